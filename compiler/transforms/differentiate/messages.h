//===- messages.h - what cannot be trained ----------------------*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_TRANSFORMS_DIFFERENTIATE_MESSAGES_H
#define MESHPLAN_COMPILER_TRANSFORMS_DIFFERENTIATE_MESSAGES_H

#include "dialect/plan/plan.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace meshplan {

/// An operator between loss and parameters cannot be differentiated: names it, and the calls on the way from the loss.
mlir::LogicalResult reportNoDerivative(plan::CallOp call, llvm::StringRef why, mlir::Value loss);

/// The output is no single number.
mlir::LogicalResult reportOtherLoss(plan::LossOp statement, llvm::StringRef output, mlir::RankedTensorType type);

/// The output is a parameter or input itself.
mlir::LogicalResult reportReturnedLoss(plan::LossOp statement, llvm::StringRef output);

/// Parameters are trained, and the loss does not depend on them. `names` are theirs; all of them if `isAll`.
mlir::LogicalResult reportUnreached(plan::LossOp statement, llvm::ArrayRef<llvm::StringRef> names, bool isAll);

/// The loss depends on parameters, `names`, that the path at this place says it does not reach.
void reportReached(mlir::Location path, llvm::ArrayRef<llvm::StringRef> names);

/// No operator of the modules has a name that is to be kept.
void reportNothingKept(plan::RecomputeOp statement, llvm::StringRef name);

/// Nothing that only the insides of these modules of one statement read is read by the backward pass.
void warnNothingRepeated(llvm::ArrayRef<plan::RecomputeOp> modules);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_TRANSFORMS_DIFFERENTIATE_MESSAGES_H
