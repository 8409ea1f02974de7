//===- messages.h - diagnostics of differentiation --------------*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_TRANSFORMS_DIFFERENTIATE_MESSAGES_H
#define MESHPLAN_COMPILER_TRANSFORMS_DIFFERENTIATE_MESSAGES_H

#include "dialect/plan/plan.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace meshplan {

/// Reports an operator between loss and parameters that cannot be differentiated, with the calls on the path from the
/// loss.
mlir::LogicalResult reportNoDerivative(plan::CallOp call, llvm::StringRef why, mlir::Value loss);

/// Reports an output that is not a single number.
mlir::LogicalResult reportOtherLoss(plan::LossOp statement, llvm::StringRef output, mlir::RankedTensorType type);

/// Reports an output that is itself a parameter or input.
mlir::LogicalResult reportReturnedLoss(plan::LossOp statement, llvm::StringRef output);

/// Reports trained parameters on which the loss does not depend. `names` are their names; `isAll` if these are all
/// trained parameters.
mlir::LogicalResult reportUnreached(plan::LossOp statement, llvm::ArrayRef<llvm::StringRef> names, bool isAll);

/// Reports parameters `names` on which the loss depends although the path at this location declares them unused.
void reportReached(mlir::Location path, llvm::ArrayRef<llvm::StringRef> names);

/// Reports a name to keep that no operator of the modules has.
void reportNothingKept(plan::RecomputeOp statement, llvm::StringRef name);

/// Warns that the backward pass reads nothing that is used only inside these modules of one statement.
void warnNothingRepeated(llvm::ArrayRef<plan::RecomputeOp> modules);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_TRANSFORMS_DIFFERENTIATE_MESSAGES_H
