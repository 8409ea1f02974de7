//===- storages.h - arguments that share a storage --------------*- C++ -*-===//
//
// Arguments of a program may be contiguous in one storage of a rank
// (`plan.storage`), so that a collective moves several of them without copying.
// plan-lay-out-buffers decides which. A result that a call computes in place of
// an operand keeps the operand's location in the storage.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_COMPILER_SHARDING_STORAGE_STORAGES_H
#define MESHPLAN_COMPILER_SHARDING_STORAGE_STORAGES_H

#include "dialect/plan/plan.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace meshplan {

/// Arguments of one element type, in their order in the storage. Between two whose positions are not consecutive lie
/// tensors that only other programs read.
struct Storage {
  std::string name; ///< the same in all programs that share the storage
  llvm::SmallVector<mlir::BlockArgument> arguments;
  bool isRegistered = false; ///< the runtime registers it with the backend of the collectives
};

/// Puts an argument into a storage, after those of lower positions.
void putInStorage(mlir::BlockArgument argument, llvm::StringRef name, int64_t position, bool isRegistered);

/// All storages of the program, in the order of their first arguments.
llvm::SmallVector<Storage> storagesOf(mlir::func::FuncOp function);

/// The argument whose location a value has, through calls that overwrite their operand in place and collectives that
/// write into a target.
mlir::Value locationOf(mlir::Value value);

/// The target into which a collective writes, or null.
mlir::Value targetOf(mlir::Operation *op);

/// Locations of arguments. Tells whether values are contiguous in memory, in order.
class StorageMap {
public:
  explicit StorageMap(mlir::func::FuncOp function);

  /// True if the values are arguments, or new contents of arguments, that are contiguous in order. Always true for one
  /// value.
  bool areAdjacent(mlir::ValueRange values) const;

private:
  llvm::DenseMap<mlir::Value, std::pair<size_t, int64_t>> positions; // index of the storage, and the position in it
};

} // namespace meshplan

#endif // MESHPLAN_COMPILER_SHARDING_STORAGE_STORAGES_H
