//===- class_losses.h - losses of class numbers ------------------*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_SHARDING_CALLS_CLASS_LOSSES_H
#define MESHPLAN_COMPILER_SHARDING_CALLS_CLASS_LOSSES_H

#include "llvm/ADT/StringRef.h"

namespace meshplan {

/// True for cross entropy and its like, which the importer makes sums that can be divided. What is left of them is in
/// forms that it does not know, and no record does. Pure and thread safe.
bool isClassLoss(llvm::StringRef target);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_SHARDING_CALLS_CLASS_LOSSES_H
