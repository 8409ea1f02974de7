//===- updates.h - results that become new contents of arguments *- C++ -*-===//
//
// A result with `plan.updates` is the new content of the argument to which it
// refers: a parameter, an optimizer state, an accumulator, or a buffer that the
// model updates. Only the program of a training step changes its arguments.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_DIALECT_PLAN_UPDATES_H
#define MESHPLAN_DIALECT_PLAN_UPDATES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace meshplan::plan {

/// True if this use returns the value as such a result. The program of forward() ignores these.
bool isUpdate(mlir::OpOperand &use);

/// Erases results that are new contents of arguments, and the ops that only they read.
void dropUpdates(mlir::func::FuncOp function);

} // namespace meshplan::plan

#endif // MESHPLAN_DIALECT_PLAN_UPDATES_H
