//===- dim_digits.h - dims through views and permutations -------*- C++ -*-===//
//
// A view changes the dims of a tensor without changing the order of its
// elements; a permutation reorders dims. Both keep the digits of an element's
// position: [4, 24] viewed as [4, 6, 4] has the digits 4 | 6 | 4; the last two
// together were 24. A chain of such operators is therefore one split of dims,
// one permutation of digits, and one view that merges digits.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_COMPILER_INDEXING_DIM_DIGITS_H
#define MESHPLAN_COMPILER_INDEXING_DIM_DIGITS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

namespace meshplan::indexing {

/// A tensor after each operator of a chain of views and permutations. Digits of size 1 are left out. Not for tensors
/// without elements.
class DimDigits {
public:
  /// Indices of digits, most significant first.
  using Digits = llvm::SmallVector<unsigned, 2>;

  explicit DimDigits(llvm::ArrayRef<int64_t> shape);

  /// Views the tensor in another shape, in the same row-major order. Returns false if a dim of the shape begins or ends
  /// inside a digit that it does not divide; digits may be split then, but the tensor stays.
  [[nodiscard]] bool view(llvm::ArrayRef<int64_t> shape);

  /// Dim i of the result is dim order[i] of the tensor.
  void permute(llvm::ArrayRef<int64_t> order);

  /// The digits of a dim of the tensor after the last operator.
  llvm::ArrayRef<unsigned> dim(size_t index) const { return stages.back()[index]; }
  int64_t size(unsigned digit) const { return sizes[digit]; }

  /// True if some intermediate tensor has two digits in one dim that are in different dims of both the first and the
  /// last tensor.
  bool mergesOnTheWay() const;

  /// True if the dim holds digits that are not consecutive in the first tensor.
  bool isReordered(size_t index) const;

  /// The shape of the first tensor with one dim per digit.
  llvm::SmallVector<int64_t> splitShape() const;

  /// For each digit of the last tensor, its dim in splitShape.
  llvm::SmallVector<int64_t> order() const;

private:
  using Stage = llvm::SmallVector<Digits, 4>; // of each dim

  /// Splits `digit` in two; the second has size `low`.
  void split(unsigned digit, int64_t low);

  llvm::SmallVector<int64_t> sizes;
  llvm::SmallVector<Stage, 4> stages; // of the first tensor and after each operator
};

} // namespace meshplan::indexing

#endif // MESHPLAN_COMPILER_INDEXING_DIM_DIGITS_H
