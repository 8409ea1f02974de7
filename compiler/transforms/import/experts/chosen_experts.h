//===- chosen_experts.h - which experts tokens choose -----------*- C++ -*-===//
//
// The experts of a mixture are numbers that views flatten: indices [tokens, slots] of a topk become ids [pairs], where
// a pair is a token and one of its slots. These functions read such views back, by what they read and not by how they
// are written: an element of a tensor is an expression over the number of the pair.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_COMPILER_TRANSFORMS_IMPORT_EXPERTS_CHOSEN_EXPERTS_H
#define MESHPLAN_COMPILER_TRANSFORMS_IMPORT_EXPERTS_CHOSEN_EXPERTS_H

#include "compiler/transforms/import/index_functions/index_functions.h"

namespace meshplan {

/// The experts that every token chooses, one in each of its slots.
struct ChosenExperts {
  mlir::Value indices; ///< [*token dims, slots]: the number of an expert
  int64_t tokens = 0, slots = 0;
  /// Numbers are in [0, experts), and those of one token differ. 0 if that is not proven.
  int64_t experts = 0;
};

/// The choice that `ids` are, [*token dims, slots], or that they flatten, tokens first: [tokens * slots]. nullopt if
/// they flatten nothing.
std::optional<ChosenExperts> findChosenExperts(IndexFunctions &functions, mlir::Value ids);

/// The digits of a number below `count` in dims of this shape, whose product is `count`.
indexing::Indices digitsOf(indexing::ExprBuilder &builder, indexing::Expr number, int64_t count,
                           llvm::ArrayRef<int64_t> shape);

/// A read of one element, of which some indices number a token and the others, `rest`, have dims of their own.
struct TokenRead {
  MovedRead read;
  indexing::Expr token;
  int64_t tokens = 0;
  indexing::Indices rest;
  llvm::SmallVector<int64_t, 2> restShape;
};

/// The tensor [*token dims, *rest] that the read goes to: its indices are the digits of the token, then the rest. If
/// movements lead to several, the one with the most token dims; null if there is none.
mlir::Value findTokenTensor(IndexFunctions &functions, TokenRead read);

/// The same for floats, which movements and one conversion may lead to. The tensor may then have other elements than
/// the read, which are their conversion.
mlir::Value findTokenSource(IndexFunctions &functions, const TokenRead &read);

/// The same for all elements of `rows` [*dims, features], whose dims but the last number the tokens.
mlir::Value findTokenRows(IndexFunctions &functions, mlir::Value rows);

/// The same for `values`, which have an element for each pair of the choice: the tensor [*token dims, slots].
mlir::Value findPairValues(IndexFunctions &functions, mlir::Value values, const ChosenExperts &chosen);

/// Scores, and the dim along which their maxima are.
struct Maxima {
  mlir::Value scores;
  int64_t dim = 0;
};

/// The scores of which each element of `positions` is the position of a maximum; nullopt for anything else.
std::optional<Maxima> maximaOf(mlir::Value positions);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_TRANSFORMS_IMPORT_EXPERTS_CHOSEN_EXPERTS_H
