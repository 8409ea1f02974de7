//===- overlap.h - common elements of two ranks -----------------*- C++ -*-===//
//
// The elements that two ranks have in common. A collective moves elements from the ranks that hold them under one
// sharding to the ranks that hold them under another. So each piece is the overlap of what one rank has and another
// receives. Pure and thread safe.
//
// Example: reshard 12 elements from 3 ranks (0-3, 4-7, 8-11) to 2 ranks (0-5, 6-11). Rank 1 has 4-7, and receiver 0
// gets 0-5. Their overlap is 4-5: one run with source 0 (in rank 1's tensor), target 4 (in receiver 0's tensor) and
// size 2.
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

/// For each dim, the runs that are copied, in ascending order. The overlap consists of all combinations of runs of
/// different dims.
struct Overlap {
  std::vector<std::vector<CommonRun>> dims;

  /// Shape and size of the piece: the overlap as a tensor of its own.
  std::vector<int64_t> shape() const;
  int64_t elementCount() const;

  /// The copy from the source tensor into the piece, and from the piece into the target tensor.
  Overlap intoPiece() const;
  Overlap fromPiece() const;
};

/// The elements that lie in both of two local tensors of one global tensor.
Overlap overlapOf(const SliceRanges &source, const SliceRanges &target);

/// True if the source elements of the overlap are the elements from `begin` on, in order, of a row-major tensor of
/// `shape`.
bool isSourceInOrder(const Overlap &overlap, std::span<const int64_t> shape, int64_t begin);

/// As above for the target elements.
bool isTargetInOrder(const Overlap &overlap, std::span<const int64_t> shape, int64_t begin);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_EXEC_OVERLAP_H
