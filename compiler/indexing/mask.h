//===- mask.h - classification of attention masks ---------------*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_INDEXING_MASK_H
#define MESHPLAN_COMPILER_INDEXING_MASK_H

#include "compiler/indexing/expr.h"
#include <optional>

namespace meshplan::indexing {

/// Dims of a mask [batch, heads, queries, keys], by number of their coordinate.
enum MaskDim : unsigned { batchDim = 0, headDim = 1, queryDim = 2, keyDim = 3 };

/// A mask as a conjunction: a query attends to a key if all conditions hold.
struct MaskForm {
  bool causal = false;              ///< key <= query
  int64_t window = 0;               ///< query - key < window; 0 means no bound
  llvm::SmallVector<Expr, 2> keys;  ///< conditions on batch and key that read tensors
  llvm::SmallVector<Expr, 2> other; ///< conditions of no other form

  /// True if query i attends to key i, whatever the tensors that the mask reads contain.
  bool seesItself() const { return keys.empty() && other.empty(); }
};

/// Splits a boolean expression over the coordinates of a mask into these conditions.
MaskForm classifyMask(Expr condition);

/// A mask that is added to the scores: 0 where `condition` holds, `otherwise` elsewhere.
struct AddedMask {
  Expr condition;
  double otherwise;
};
std::optional<AddedMask> asAddedMask(ExprBuilder &builder, Expr mask);

} // namespace meshplan::indexing

#endif // MESHPLAN_COMPILER_INDEXING_MASK_H
