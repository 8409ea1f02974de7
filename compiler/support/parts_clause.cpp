//===- parts_clause.cpp - parts of a dim as a plan says them --------------===//

#include "compiler/support/parts_clause.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <numeric>
#include <vector>

std::string meshplan::partsClause(llvm::ArrayRef<int64_t> parts, bool mayBeHeads) {
  if (llvm::all_equal(parts))
    return "parts " + std::to_string(parts.size());
  int64_t common = 0;
  for (int64_t part : parts)
    common = std::gcd(common, part);
  bool isAttention = mayBeHeads && parts.size() == 3 && parts[1] == parts[2];
  std::vector<std::string> texts;
  for (auto [index, part] : llvm::enumerate(parts)) {
    std::string name = isAttention ? std::string(1, "qkv"[index]) + " " : "";
    texts.push_back(name + std::to_string(part / common));
  }
  return "parts (" + llvm::join(texts, ", ") + ")";
}

std::string meshplan::partsHelp(llvm::ArrayRef<int64_t> parts) {
  return "help: state the parts of the fused weight: '" + partsClause(parts) + "'";
}

static void printUnits(llvm::raw_ostream &stream, int64_t unit, int64_t repeat) {
  if (unit != 1)
    stream << " unit " << unit;
  if (repeat != 1)
    stream << " repeat " << repeat;
}

void meshplan::printElementGroups(llvm::raw_ostream &stream, int64_t unit, llvm::ArrayRef<DimPart> parts,
                                  int64_t repeat) {
  printUnits(stream, unit, repeat);
  if (parts.empty())
    return;
  bool isPlain = llvm::all_of(parts, [](const DimPart &part) { return part.unit == 1 && part.repeat == 1; });
  stream << " parts ";
  llvm::interleave(
      parts, stream,
      [&](const DimPart &part) {
        stream << part.extent;
        printUnits(stream, part.unit, part.repeat);
      },
      isPlain ? "+" : " + ");
}
