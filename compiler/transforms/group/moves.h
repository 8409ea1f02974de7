//===- moves.h - moves operations within a block ----------------*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_TRANSFORMS_GROUP_MOVES_H
#define MESHPLAN_COMPILER_TRANSFORMS_GROUP_MOVES_H

#include "mlir/IR/Operation.h"

namespace meshplan {

/// Moves those of `ops` that come after `anchor` to directly before it, in order and adjacent. The ops that define
/// their operands move before them.
void moveUp(llvm::ArrayRef<mlir::Operation *> ops, mlir::Operation *anchor);

/// Moves `op` to directly before `anchor`, and its readers in between to after `anchor`, in their order. Returns false
/// without moving anything if `anchor` depends on `op`, or if `op` is not before it.
bool moveDown(mlir::Operation *op, mlir::Operation *anchor);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_TRANSFORMS_GROUP_MOVES_H
