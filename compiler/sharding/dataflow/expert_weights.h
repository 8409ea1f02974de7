//===- expert_weights.h - weights of the experts of a mixture ---*- C++ -*-===//
//
// What computes rows of experts reads how many rows each expert has (`counts`),
// beside the weights or biases of all experts, whose dim 0 is the experts. Pure.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_COMPILER_SHARDING_DATAFLOW_EXPERT_WEIGHTS_H
#define MESHPLAN_COMPILER_SHARDING_DATAFLOW_EXPERT_WEIGHTS_H

#include "dialect/plan/plan.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/SetVector.h"

namespace meshplan {

/// The arguments of the function that a call reads as weights or biases of experts, perhaps converted; none for other
/// calls.
llvm::SmallVector<mlir::BlockArgument> weightsOfExperts(plan::CallOp call);

/// The parameters among those of these calls.
llvm::SetVector<mlir::BlockArgument> weightsOfExperts(llvm::ArrayRef<plan::CallOp> calls);

/// The path of the first module that computes rows of experts; empty if there is none.
llvm::StringRef pathOfExperts(mlir::func::FuncOp function);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_SHARDING_DATAFLOW_EXPERT_WEIGHTS_H
