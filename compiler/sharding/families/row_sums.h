//===- row_sums.h - calls that add rows to zeros ----------------*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_SHARDING_FAMILIES_ROW_SUMS_H
#define MESHPLAN_COMPILER_SHARDING_FAMILIES_ROW_SUMS_H

#include "llvm/ADT/StringRef.h"

namespace meshplan {

/// True if the call adds rows to zeros at positions that indices give, as gradients of lookups do. With the rows of all
/// ranks it takes hardly longer than with those of one, because most of its result are zeros. Pure and thread safe.
bool addsRows(llvm::StringRef target);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_SHARDING_FAMILIES_ROW_SUMS_H
