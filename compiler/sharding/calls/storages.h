//===- storages.h - arguments that lie in one storage -----------*- C++ -*-===//
//
// Arguments of a program may lie one after the other in one storage of a rank
// (`plan.storage`), so that a collective takes several as one piece. What a call
// changes in its place stays where it is.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_COMPILER_SHARDING_CALLS_STORAGES_H
#define MESHPLAN_COMPILER_SHARDING_CALLS_STORAGES_H

#include "dialect/plan/plan.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace meshplan {

/// Arguments of one element type in the order in which they lie there, without gaps.
struct Storage {
  std::string name; ///< the same in all programs that share it
  llvm::SmallVector<mlir::BlockArgument> arguments;
  bool isRegistered = false;
};

/// Puts an argument into a storage, behind those of lower positions.
void putInStorage(mlir::BlockArgument argument, llvm::StringRef name, int64_t position, bool isRegistered);

/// All storages of the program, in the order of their first arguments.
llvm::SmallVector<Storage> storagesOf(mlir::func::FuncOp function);

/// What a value is the new content of, through calls that change their operand in its place and collectives that put
/// their result into a target.
mlir::Value placeOf(mlir::Value value);

/// What a collective puts its result into, or null.
mlir::Value targetOf(mlir::Operation *op);

/// Where arguments lie: says of values whether one piece of memory holds them, in their order.
class StorageMap {
public:
  explicit StorageMap(mlir::func::FuncOp function);

  /// True if the values are arguments, or new contents of arguments, that lie one after the other. A single value does,
  /// whatever it is.
  bool liesInOnePiece(mlir::ValueRange values) const;

private:
  llvm::DenseMap<mlir::Value, std::pair<size_t, size_t>> places; // the storage, and the number within it
};

} // namespace meshplan

#endif // MESHPLAN_COMPILER_SHARDING_CALLS_STORAGES_H
