//===- parts_clause.h - parts of a dim as a plan says them ------*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_SUPPORT_PARTS_CLAUSE_H
#define MESHPLAN_COMPILER_SUPPORT_PARTS_CLAUSE_H

#include "runtime/schema/extent.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/raw_ostream.h"
#include <cstdint>
#include <string>

namespace meshplan {

/// Sizes of parts, one or more, as a plan says them, in their smallest proportion: "parts 3", "parts (q 4, k 1, v 1)".
/// Two equal parts behind a first one are called those of attention, unless they are known to be none; others have no
/// names: "parts (3, 2)".
std::string partsClause(llvm::ArrayRef<int64_t> parts, bool mayBeHeads = true);

/// The way out where a plan leaves out or mistakes the parts of a fused weight.
std::string partsHelp(llvm::ArrayRef<int64_t> parts);

/// How the elements of a divided dim go together, behind its axes: " unit 64 repeat 2", or
/// " parts 8 unit 4 + 4 repeat 2 + 4 repeat 2", in elements; what is 1 or empty is left out.
void printElementGroups(llvm::raw_ostream &stream, int64_t unit, llvm::ArrayRef<DimPart> parts, int64_t repeat);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_SUPPORT_PARTS_CLAUSE_H
