//===- overlap.h - common elements of two ranks -----------------*- C++ -*-===//
//
// The elements that two ranks have in common. A collective moves elements from
// the ranks that hold them under one sharding to the ranks that hold them under
// another. So each piece is the overlap of what one rank has and another
// receives.
//
// Example: reshard 12 elements from 3 ranks (0-3, 4-7, 8-11) to 2 ranks (0-5,
// 6-11). Rank 1 has 4-7, and receiver 0 gets 0-5. Their overlap is 4-5: one run
// with source 0 (in rank 1's tensor), target 4 (in receiver 0's tensor) and
// size 2.
//
// Header only, standard library only, no state. All functions are pure and
// thread safe.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_RUNTIME_SCHEMA_OVERLAP_H
#define MESHPLAN_RUNTIME_SCHEMA_OVERLAP_H

#include "runtime/schema/extent.h"

#include <algorithm>

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
  std::vector<int64_t> shape() const {
    std::vector<int64_t> shape;
    for (const std::vector<CommonRun> &runs : dims) {
      shape.push_back(0);
      for (const CommonRun &run : runs)
        shape.back() += run.size;
    }
    return shape;
  }
  int64_t elementCount() const {
    int64_t count = 1;
    for (int64_t extent : shape())
      count *= extent;
    return count;
  }

  /// The copy from the source tensor into the piece, and from the piece into the target tensor.
  Overlap intoPiece() const { return withPiece(&CommonRun::target); }
  Overlap fromPiece() const { return withPiece(&CommonRun::source); }

private:
  /// Replaces one side of every run by its offset in the piece.
  Overlap withPiece(int64_t CommonRun::*side) const {
    Overlap piece = *this;
    for (std::vector<CommonRun> &runs : piece.dims) {
      int64_t offset = 0;
      for (CommonRun &run : runs) {
        run.*side = offset;
        offset += run.size;
      }
    }
    return piece;
  }
};

/// The elements of one dim that lie in both lists of ranges. Both lists ascend.
inline std::vector<CommonRun> commonRuns(std::span<const Range> source, std::span<const Range> target) {
  std::vector<CommonRun> runs;
  // Offsets count elements of the local tensors, in which the ranges of a dim follow one another without gaps.
  int64_t sourceOffset = 0;
  for (const Range &a : source) {
    int64_t targetOffset = 0;
    for (const Range &b : target) {
      int64_t begin = std::max(a.offset, b.offset), end = std::min(a.offset + a.size, b.offset + b.size);
      if (begin < end) {
        CommonRun run{sourceOffset + begin - a.offset, targetOffset + begin - b.offset, end - begin};
        // Adjacent pieces, for example of neighbouring shards, merge to one copy.
        bool continues = !runs.empty() && runs.back().source + runs.back().size == run.source &&
                         runs.back().target + runs.back().size == run.target;
        if (continues)
          runs.back().size += run.size;
        else
          runs.push_back(run);
      }
      targetOffset += b.size;
    }
    sourceOffset += a.size;
  }
  return runs;
}

/// The elements that lie in both of two local tensors of one global tensor. Each has, for each dim, the ranges of the
/// global tensor that it holds (localRanges).
inline Overlap overlapOf(const std::vector<std::vector<Range>> &source, const std::vector<std::vector<Range>> &target) {
  Overlap overlap;
  for (size_t dim = 0; dim < source.size(); ++dim)
    // Slices are products of ranges, so their overlap is the product of the overlaps of the dims.
    overlap.dims.push_back(commonRuns(source[dim], target[dim]));
  return overlap;
}

/// True if the elements that the overlap has on one `side` are the elements from `begin` on, in order, of a row-major
/// tensor of `shape`.
inline bool isInOrder(const Overlap &overlap, int64_t CommonRun::*side, std::span<const int64_t> shape, int64_t begin) {
  if (overlap.elementCount() == 0)
    return true;
  int64_t first = 0;
  bool mayVary = true; // all dims so far have one element, so this one may be a sub-range
  for (size_t dim = 0; dim < shape.size(); ++dim) {
    if (overlap.dims[dim].size() != 1)
      return false;
    const CommonRun &run = overlap.dims[dim].front();
    // A partial dim inside a dim with several elements leaves gaps between its runs.
    if (!mayVary && run.size != shape[dim])
      return false;
    mayVary = mayVary && run.size == 1;
    first = first * shape[dim] + run.*side;
  }
  return first == begin;
}

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_SCHEMA_OVERLAP_H
