//===- stacked_experts.h - stacked experts that see all tokens --*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_TRANSFORMS_IMPORT_EXPERTS_STACKED_EXPERTS_H
#define MESHPLAN_COMPILER_TRANSFORMS_IMPORT_EXPERTS_STACKED_EXPERTS_H

#include "compiler/transforms/import/experts/routed_region.h"
#include "compiler/transforms/import/experts/sparse_gates.h"

namespace meshplan {

/// The region that ends in `sum`, if it adds the results of experts with stacked weights over all tokens, which are 0
/// for tokens that have not chosen the expert; nullopt if it does not. Changes nothing.
std::optional<RoutedRegion> readStackedExperts(SparseGatesReader &gates, plan::CallOp sum);

/// A product that sums over experts, written as two calls.
struct SpelledOutSum {
  plan::CallOp sum;
  mlir::Value result; ///< in the shape of the product's result
};

/// An einsum `te,ted->td` or `te,etd->td`, or a matrix product of the same meaning, of gates and what experts make, as
/// a sum of products before it, which nothing reads yet. Null for anything else.
SpelledOutSum spellOutExpertSum(SparseGatesReader &gates, plan::CallOp product);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_TRANSFORMS_IMPORT_EXPERTS_STACKED_EXPERTS_H
