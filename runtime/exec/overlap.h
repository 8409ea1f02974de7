//===- overlap.h - the elements that two ranks have in common ----*- C++ -*-===//
//
// A collective moves elements from the ranks that hold them under one sharding
// to those that hold them under another, so each piece is the overlap of what
// one rank has and another gets. Pure functions; thread safe.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_RUNTIME_EXEC_OVERLAP_H
#define MESHPLAN_RUNTIME_EXEC_OVERLAP_H

#include "runtime/data/slice.h"

namespace meshplan {

/// Elements of one dim: from `source` on in one local tensor, from `target` on in the other.
struct CommonRun {
  int64_t source = 0;
  int64_t target = 0;
  int64_t size = 0;

  bool operator==(const CommonRun &) const = default;
};

/// For each dim the runs that are copied, in rising order; all combinations of
/// runs of different dims.
struct Overlap {
  std::vector<std::vector<CommonRun>> dims;

  /// Of the piece: the overlap as a tensor of its own.
  std::vector<int64_t> shape() const;
  int64_t elementCount() const;

  /// From the source tensor into the piece, and from the piece into the target tensor.
  Overlap intoPiece() const;
  Overlap fromPiece() const;
};

/// What lies in both, for tensors that hold `source` and `target` of one global tensor.
Overlap overlapOf(const SliceRanges &source, const SliceRanges &target);

/// The source elements of the overlap are the ones from `begin` on in a row-major
/// tensor of `shape`, in their order.
bool isSourceInOrder(const Overlap &overlap, std::span<const int64_t> shape, int64_t begin);

/// The same for the target elements.
bool isTargetInOrder(const Overlap &overlap, std::span<const int64_t> shape, int64_t begin);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_EXEC_OVERLAP_H
