//===- storage_order.h - the order of parameters in a storage ---*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_TRANSFORMS_GROUP_STORAGE_ORDER_H
#define MESHPLAN_COMPILER_TRANSFORMS_GROUP_STORAGE_ORDER_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/StringMap.h"

namespace meshplan {

/// In which order parameters lie in one storage: one order for all programs of a module, which share the tensors, and
/// for both passes of a step. What the backward pass gathers comes first, so that it is one run of the storage.
class StorageOrder {
public:
  explicit StorageOrder(mlir::ModuleOp module);

  /// Unlike that of any other parameter of the program.
  int64_t positionOf(mlir::BlockArgument parameter) const;

private:
  llvm::StringMap<int64_t> positions; // by the first name of the parameter
};

} // namespace meshplan

#endif // MESHPLAN_COMPILER_TRANSFORMS_GROUP_STORAGE_ORDER_H
