//===- mask.h - what an attention mask says ---------------------*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_INDEXING_MASK_H
#define MESHPLAN_COMPILER_INDEXING_MASK_H

#include "compiler/indexing/expr.h"
#include <optional>

namespace meshplan::indexing {

/// Dims of a mask [batch, heads, queries, keys]; coordinates are numbered so.
enum MaskDim : unsigned { batchDim = 0, headDim = 1, queryDim = 2, keyDim = 3 };

/// A mask as a conjunction: a query sees a key where all of it holds.
struct MaskForm {
  bool causal = false;              ///< key <= query
  int64_t window = 0;               ///< query - key < window; 0 is no bound
  llvm::SmallVector<Expr, 2> keys;  ///< conditions on batch and key that read tensors
  llvm::SmallVector<Expr, 2> other; ///< what is left over

  /// True if whatever is in the tensors that it reads, key i is seen by query i.
  bool seesItself() const { return keys.empty() && other.empty(); }
};

/// Takes a boolean expression over the coordinates of a mask apart.
MaskForm classifyMask(Expr condition);

/// A mask that is added to the scores, 0 where `condition` holds and `otherwise` elsewhere.
struct AddedMask {
  Expr condition;
  double otherwise;
};
std::optional<AddedMask> asAddedMask(ExprBuilder &builder, Expr mask);

} // namespace meshplan::indexing

#endif // MESHPLAN_COMPILER_INDEXING_MASK_H
