//===- storage_order.h - order of parameters in a storage -------*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_TRANSFORMS_GROUP_STORAGE_ORDER_H
#define MESHPLAN_COMPILER_TRANSFORMS_GROUP_STORAGE_ORDER_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/StringMap.h"

namespace meshplan {

/// The order of parameters in a storage. It is the same for all programs of a module, which share the tensors, and for
/// the forward and the backward pass. Parameters that the backward pass gathers come first, so that they are
/// contiguous; parameters that the step does not have come last.
class StorageOrder {
public:
  explicit StorageOrder(mlir::ModuleOp module);

  /// Different for each parameter of the program.
  int64_t positionOf(mlir::BlockArgument parameter) const;

private:
  llvm::StringMap<int64_t> positions; // by the first name of the parameter
};

} // namespace meshplan

#endif // MESHPLAN_COMPILER_TRANSFORMS_GROUP_STORAGE_ORDER_H
