//===- movement_chain.h - chains of views and permutations ------*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_TRANSFORMS_IMPORT_MOVEMENT_CHAIN_H
#define MESHPLAN_COMPILER_TRANSFORMS_IMPORT_MOVEMENT_CHAIN_H

#include "compiler/indexing/dim_digits.h"
#include "dialect/plan/plan.h"

namespace meshplan {

/// A tensor that views and permutations derive from another one.
struct MovementChain {
  mlir::Value root;
  indexing::DimDigits digits; ///< from the root to the tensor
};

/// The chain that ends in `value`, as far back as its views can be followed; only `value` if nothing moves it.
MovementChain movementChainOf(mlir::Value value);

/// Creates the end of a chain before `anchor`, with one split, one permutation and one view to `shape`, each only if it
/// changes something.
mlir::Value moveAtOnce(const MovementChain &chain, llvm::ArrayRef<int64_t> shape, plan::CallOp anchor);

/// A view of a value before `anchor`; the value itself if it has the shape.
mlir::Value reshaped(mlir::Value value, llvm::ArrayRef<int64_t> shape, plan::CallOp anchor);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_TRANSFORMS_IMPORT_MOVEMENT_CHAIN_H
