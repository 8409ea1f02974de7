//===- expert_weights.h - weights of the experts of a mixture ---*- C++ -*-===//
//
// What computes rows of experts reads how many rows each expert has (`counts`),
// beside the weights or biases of all experts, whose dim 0 is the experts. They may
// be computed from several parameters, as by low-rank adapters:
//
//   weight [8, 96, 64] = w [8, 96, 64] + product of a [8 * 4, 64] and b [96, 4 * 8]
//
// The experts are dim 0 of w, and dim 0 of a, of which each has 4 elements. They are
// minor to other elements in b, so that no range of b belongs to an expert. Pure.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_COMPILER_SHARDING_DATAFLOW_EXPERT_WEIGHTS_H
#define MESHPLAN_COMPILER_SHARDING_DATAFLOW_EXPERT_WEIGHTS_H

#include "dialect/plan/plan.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/SmallVector.h"
#include <map>
#include <string>

namespace meshplan {

/// An argument of the function with elements for each expert: ranges of `size` indices of `dim`, in order of experts.
struct ExpertWeight {
  mlir::BlockArgument argument;
  int64_t dim = 0, size = 1;
};

/// The arguments that a call reads as weights or biases of experts, or from which these are computed; none for other
/// calls.
llvm::SmallVector<ExpertWeight> weightsOfExperts(plan::CallOp call);

/// The parameters among those of these calls, each once.
llvm::SmallVector<ExpertWeight> weightsOfExperts(llvm::ArrayRef<plan::CallOp> calls);

/// True for a product of rows with the weight of their expert, forward or backward.
bool multipliesRows(plan::CallOp call);

/// The path of the first module that computes rows of experts; empty if there is none.
llvm::StringRef pathOfExperts(mlir::func::FuncOp function);

/// The lists of modules that are the experts of a mixture, `model.layers.0.mlp.experts`, and the number of experts in
/// each: rows are multiplied by stacks of their parameters.
std::map<std::string, int64_t> listsOfExperts(mlir::func::FuncOp function);

/// The first name of a parameter of one expert, at or inside this path: rows are multiplied by a stack of it and
/// others. Empty if there is none.
llvm::StringRef partOfExperts(mlir::func::FuncOp function, llvm::StringRef path);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_SHARDING_DATAFLOW_EXPERT_WEIGHTS_H
