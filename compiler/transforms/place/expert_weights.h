//===- expert_weights.h - weights that compute routed tokens ----*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_TRANSFORMS_PLACE_EXPERT_WEIGHTS_H
#define MESHPLAN_COMPILER_TRANSFORMS_PLACE_EXPERT_WEIGHTS_H

#include "dialect/plan/plan.h"
#include "llvm/ADT/SetVector.h"

namespace meshplan {

/// The weights and biases of experts that the calls read. Dim 0 of each is that of the experts.
llvm::SetVector<mlir::BlockArgument> weightsOfExperts(llvm::ArrayRef<plan::CallOp> calls);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_TRANSFORMS_PLACE_EXPERT_WEIGHTS_H
