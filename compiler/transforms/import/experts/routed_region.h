//===- routed_region.h - the experts' part of a mixture ---------*- C++ -*-===//
//
// A mixture computes a row for each pair of a token and an expert that it has chosen, and sums the rows of each token.
// Between the choice and the sum, models keep the rows of all pairs in one dim, in order of the experts or of the
// tokens. A routed region is that part of a program, as steps that are independent of the order.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_COMPILER_TRANSFORMS_IMPORT_EXPERTS_ROUTED_REGION_H
#define MESHPLAN_COMPILER_TRANSFORMS_IMPORT_EXPERTS_ROUTED_REGION_H

#include "compiler/transforms/import/experts/chosen_experts.h"
#include "llvm/ADT/MapVector.h"
#include <string>

namespace meshplan {

/// Rows [pairs, *features], one for each pair.
struct RoutedRows {
  /// The tensor that holds, for each position of the rows, the number of its pair; null: position p is pair p.
  mlir::Value order;
  unsigned lead = 1; ///< dims that number the pairs: [tokens, slots, *features] has two
  /// -1 or -2: the position, from the end, of a dim of size 1 that is not a feature. 0: there is none.
  int unit = 0;

  /// True if the tensor is [pairs, *features] with this many features.
  bool isPlain(mlir::Value value, int64_t features) const {
    return lead == 1 && unit == 0 && rankOf(value) == features + 1;
  }
};

/// The features of rows, without the dim of size 1 that is not one.
llvm::SmallVector<int64_t> featuresOf(mlir::Value value, const RoutedRows &rows);

/// One step of a region. It makes `made`, a value of the program, from other values of it.
struct RoutedStep {
  enum Kind {
    dispatch,      ///< rows of tokens, in the type of `made`; `from` is [*token dims, features]
    dispatchGates, ///< an element of each pair, in the type of `made`; `from` is [*token dims, slots]
    product,       ///< rows `from` times the weight `with` of their expert
    bias,          ///< the bias `with` of each row's expert is added to rows `from`, in the type of `made`
    compute,       ///< `place` computes on each row alone: it makes all its results
    same,          ///< rows `from` in another order or shape
    combine,       ///< the sum of the rows `from` of each token; added to `with`, if that is not null
  };
  Kind kind;
  plan::CallOp place; ///< the call that the step replaces, or before which it is inserted
  mlir::Value made;   ///< null for `compute`
  mlir::Value from, with;
  bool transposed = false;                      ///< weight [experts, in, out] instead of [experts, out, in]
  llvm::SmallVector<mlir::Value, 0> parts = {}; ///< instead of `with`: a parameter of each expert
};

struct RoutedRegion {
  ChosenExperts chosen;
  llvm::SmallVector<int64_t> tokenDims; ///< into which tokens are divided where the rows come from
  llvm::SmallVector<RoutedStep> steps;  ///< in program order
  llvm::MapVector<mlir::Value, RoutedRows> rows;
  bool multiplies = false; ///< the region has a product with weights of experts, or would have one

  /// Why the region cannot be replaced, and the operator that prevents it; null if nothing does.
  mlir::Operation *obstacle = nullptr;
  std::string why;
  llvm::StringRef help; ///< the way out; empty: that of most obstacles

  /// The token dims are those of the tensor that is dispatched first.
  void setTokenDims();

  /// True if the rows end in sums.
  bool isComplete() const {
    return llvm::any_of(steps, [](const RoutedStep &step) { return step.kind == RoutedStep::combine; });
  }
};

/// The region of tokens that choose `ids` [pairs], or [*token dims, slots]; nullopt if `ids` do not number the choices
/// of tokens. Calls that weigh the rows of an einsum may be inserted; they change nothing else, and may remain unread.
std::optional<RoutedRegion> readRoutedRegion(IndexFunctions &functions, mlir::Value ids);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_TRANSFORMS_IMPORT_EXPERTS_ROUTED_REGION_H
