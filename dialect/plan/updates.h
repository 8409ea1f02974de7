//===- updates.h - results that become what arguments hold -------*- C++ -*-===//
//
// A result with `plan.updates`, the number of an argument, is the new content of
// that argument: of a parameter or state of the optimizer, or of a buffer that
// the model updates. Only programs of a training step change what they are given.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_DIALECT_PLAN_UPDATES_H
#define MESHPLAN_DIALECT_PLAN_UPDATES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace meshplan::plan {

/// True where a function returns a value as such a result, which forward() gives nobody.
bool isUpdate(mlir::OpOperand &use);

/// Takes results that are new contents of arguments away, and what only they read.
void dropUpdates(mlir::func::FuncOp function);

} // namespace meshplan::plan

#endif // MESHPLAN_DIALECT_PLAN_UPDATES_H
