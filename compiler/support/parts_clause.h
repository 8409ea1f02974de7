//===- parts_clause.h - parts of a dim as a plan says them ------*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_SUPPORT_PARTS_CLAUSE_H
#define MESHPLAN_COMPILER_SUPPORT_PARTS_CLAUSE_H

#include "runtime/schema/extent.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/raw_ostream.h"
#include <cstdint>
#include <string>

namespace meshplan {

/// Sizes of parts, one or more, as a plan states them, divided by their common factor: "parts 3", "parts (q 4, k 1, v
/// 1)". Three parts of which the last two are equal are named as those of attention unless `mayBeHeads` is false;
/// others have no names: "parts (3, 2)".
std::string partsClause(llvm::ArrayRef<int64_t> parts, bool mayBeHeads = true);

/// The help of a message about missing or wrong parts of a fused weight.
std::string partsHelp(llvm::ArrayRef<int64_t> parts);

/// How the elements of a split dim are grouped, as printed after its axes: " unit 64 repeat 2", or " parts 8 unit 4 + 4
/// repeat 2 + 4 repeat 2", in elements; a unit or repeat of 1 and an empty list are left out.
void printElementGroups(llvm::raw_ostream &stream, int64_t unit, llvm::ArrayRef<DimPart> parts, int64_t repeat);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_SUPPORT_PARTS_CLAUSE_H
