//===- chosen_rows.h - which rows a loop over experts takes -----*- C++ -*-===//
//
// A loop over experts takes the tokens that have chosen one of them, by a mask or by the positions where it is true.
// Their number is known only when the step runs, so that their tensors have an extent that no program has
// (archive/data_extents.h).
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_COMPILER_TRANSFORMS_IMPORT_EXPERTS_LOOPS_CHOSEN_ROWS_H
#define MESHPLAN_COMPILER_TRANSFORMS_IMPORT_EXPERTS_LOOPS_CHOSEN_ROWS_H

#include "compiler/transforms/import/experts/sparse_gates.h"

namespace meshplan {

/// True if a dim of the value is known only when the step runs.
bool hasChosenRows(mlir::Value value);

/// The pairs of a token and a slot in which one expert is chosen. Several masks may choose the same pairs; the rows of
/// each have an extent of their own.
struct ExpertChoice {
  mlir::Value ids; ///< [*token dims, slots], or [*token dims] of one slot
  int64_t tokens = 0, slots = 0, expert = 0;
  bool isDistinct = false;                 ///< a token has each expert in one slot at most
  bool isBySlot = false;                   ///< pairs are in order of slots, then of tokens
  llvm::SmallVector<int64_t, 2> tokenDims; ///< of the mask

  /// True if the same tokens are chosen, in the same order. A view of a mask may have merged their dims.
  bool isSame(const ExpertChoice &other) const {
    return ids == other.ids && expert == other.expert && tokens == other.tokens && isBySlot == other.isBySlot;
  }
};

/// A number for each row: the index of its token in one of the token dims, or its slot.
struct RowNumber {
  static constexpr int64_t slot = -1;

  ExpertChoice choice;
  int64_t dim = 0; ///< a number of a token dim, or `slot`
};

/// What the positions where `mask` is true are in this dim; nullopt if the mask is not a comparison of chosen experts
/// with a number. A mask is [*token dims, slots] or [slots, *token dims]; or [*token dims], if it is true for a choice
/// in any slot, or there is one. The gate of an expert is such a mask, if it is not 0 for tokens that have chosen the
/// expert.
std::optional<RowNumber> positionsIn(SparseGatesReader &gates, mlir::Value mask, int64_t dim);

/// The list of positions [n, dims of a mask] and the indices at which `value` at `indices` has a number of it, possibly
/// `value` itself; nullopt if it has something else.
std::optional<MovedRead> readPositionList(indexing::ExprBuilder &builder, mlir::Value value, indexing::Indices indices);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_TRANSFORMS_IMPORT_EXPERTS_LOOPS_CHOSEN_ROWS_H
