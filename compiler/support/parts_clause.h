//===- parts_clause.h - parts of a dim as a plan says them ------*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_SUPPORT_PARTS_CLAUSE_H
#define MESHPLAN_COMPILER_SUPPORT_PARTS_CLAUSE_H

#include "llvm/ADT/ArrayRef.h"
#include <cstdint>
#include <string>

namespace meshplan {

/// Sizes of parts, one or more, as a plan says them, in their smallest proportion: "parts 3", "parts (q 4, k 1, v 1)".
/// Two equal parts behind a first one are called those of attention, others by numbers.
std::string partsClause(llvm::ArrayRef<int64_t> parts);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_SUPPORT_PARTS_CLAUSE_H
