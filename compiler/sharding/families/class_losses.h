//===- class_losses.h - losses of class indices -----------------*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_SHARDING_FAMILIES_CLASS_LOSSES_H
#define MESHPLAN_COMPILER_SHARDING_FAMILIES_CLASS_LOSSES_H

#include "llvm/ADT/StringRef.h"

namespace meshplan {

/// True for cross entropy and its variants. The importer decomposes these into sums that can be divided; those that
/// remain have forms that it does not support, and no record. Pure and thread safe.
bool isClassLoss(llvm::StringRef target);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_SHARDING_FAMILIES_CLASS_LOSSES_H
