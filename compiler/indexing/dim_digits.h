//===- dim_digits.h - dims through views and permutations -------*- C++ -*-===//
//
// A view counts the elements of a tensor with other dims, a permutation orders
// them anew. Both keep the digits of an element's place: [4, 24] viewed as
// [4, 6, 4] has the digits 4 | 6 | 4, of which 24 were the last two together.
// A chain of such operators is one split of dims, one permutation of digits and
// one view that merges them.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_COMPILER_INDEXING_DIM_DIGITS_H
#define MESHPLAN_COMPILER_INDEXING_DIM_DIGITS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

namespace meshplan::indexing {

/// A tensor on its way through views and permutations. Digits of size 1 do not count. Not for tensors without elements.
class DimDigits {
public:
  /// Numbers of digits, the most significant first.
  using Digits = llvm::SmallVector<unsigned, 2>;

  explicit DimDigits(llvm::ArrayRef<int64_t> shape);

  /// The same elements in row-major order with another shape. False, and nothing changes that matters, if a dim of it
  /// begins or ends inside of a digit that it does not divide.
  [[nodiscard]] bool view(llvm::ArrayRef<int64_t> shape);

  /// Dim i of the result is dim order[i] of the tensor.
  void permute(llvm::ArrayRef<int64_t> order);

  /// The digits of a dim of the tensor as it is now.
  llvm::ArrayRef<unsigned> dim(size_t index) const { return stages.back()[index]; }
  int64_t size(unsigned digit) const { return sizes[digit]; }

  /// True if some tensor on the way, not the first and not the last, has two digits in one dim that are apart in both.
  bool mergesOnTheWay() const;

  /// True if the dim holds digits that do not follow each other in the first tensor.
  bool isReordered(size_t index) const;

  /// The first tensor with a dim for each digit.
  llvm::SmallVector<int64_t> splitShape() const;

  /// For each digit of the last tensor, its dim in the split shape.
  llvm::SmallVector<int64_t> order() const;

private:
  using Stage = llvm::SmallVector<Digits, 4>; // of each dim

  /// Makes `digit` two, of which the second has this size.
  void split(unsigned digit, int64_t low);

  llvm::SmallVector<int64_t> sizes;
  llvm::SmallVector<Stage, 4> stages; // the first tensor, then one for each operator
};

} // namespace meshplan::indexing

#endif // MESHPLAN_COMPILER_INDEXING_DIM_DIGITS_H
