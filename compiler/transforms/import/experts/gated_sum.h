//===- gated_sum.h - results of experts times their gates -------*- C++ -*-===//
//
// A mixture whose experts are modules adds what each of them makes times its gate:
//
//   out = x + gate(0) * y(0) + gate(1) * y(1) + ..
//   out = sum(stack([y(0), y(1), ..]) * gates)
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_COMPILER_TRANSFORMS_IMPORT_EXPERTS_GATED_SUM_H
#define MESHPLAN_COMPILER_TRANSFORMS_IMPORT_EXPERTS_GATED_SUM_H

#include "compiler/transforms/import/experts/expert_gates.h"

namespace meshplan {

/// A result of an expert times its gate.
struct GatedResult {
  plan::CallOp product;
  llvm::SmallVector<plan::CallOp, 2> after; ///< on the product alone, which make 0 of 0; in program order
  mlir::Value result, gate;
  ExpertGate read;
};

/// The sum of one gated result for each expert of one choice.
struct GatedSum {
  llvm::SmallVector<GatedResult, 8> results; ///< in order of experts
  ChosenExperts chosen;
  mlir::Value stacked;                        ///< the results of all experts; null: each is multiplied by its own gate
  mlir::Value base;                           ///< an addend that is not of an expert; null: none
  llvm::SmallVector<mlir::Operation *> calls; ///< from the results to the sum
};

/// The gated results that a chain of sums adds, of any choices and in any order, and at most one other addend; nullopt
/// if `sum` is something else.
std::optional<GatedSum> readGatedAddends(SparseGatesReader &gates, plan::CallOp sum);

/// What `sum` provably adds; nullopt if it is something else.
std::optional<GatedSum> readGatedSum(SparseGatesReader &gates, plan::CallOp sum);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_TRANSFORMS_IMPORT_EXPERTS_GATED_SUM_H
