//===- moves.h - where operations of a block may stand ----------*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_TRANSFORMS_GROUP_MOVES_H
#define MESHPLAN_COMPILER_TRANSFORMS_GROUP_MOVES_H

#include "mlir/IR/Operation.h"

namespace meshplan {

/// Moves those of `ops` that stand behind `place` before it, in their order and without anything between them, and
/// whatever they are made of before that.
void moveUp(llvm::ArrayRef<mlir::Operation *> ops, mlir::Operation *place);

/// Moves `op` to right before `place`, and what reads its results up to there behind `place`, in the old order. False,
/// and nothing has moved, if `place` needs one of these or `op` does not stand before it.
bool moveDown(mlir::Operation *op, mlir::Operation *place);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_TRANSFORMS_GROUP_MOVES_H
