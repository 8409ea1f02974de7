//===- overlap.cpp - common elements of two ranks -------------------------===//

#include "runtime/exec/overlap.h"

#include <algorithm>

using namespace meshplan;

static int64_t sizeOf(std::span<const CommonRun> runs) {
  int64_t size = 0;
  for (const CommonRun &run : runs)
    size += run.size;
  return size;
}

std::vector<int64_t> Overlap::shape() const {
  std::vector<int64_t> shape;
  for (const std::vector<CommonRun> &runs : dims)
    shape.push_back(sizeOf(runs));
  return shape;
}

int64_t Overlap::elementCount() const {
  int64_t count = 1;
  for (const std::vector<CommonRun> &runs : dims)
    count *= sizeOf(runs);
  return count;
}

/// Replaces one side of every run by its offset in the piece.
static Overlap withPiece(Overlap overlap, int64_t CommonRun::*side) {
  for (std::vector<CommonRun> &runs : overlap.dims) {
    int64_t place = 0;
    for (CommonRun &run : runs) {
      run.*side = place;
      place += run.size;
    }
  }
  return overlap;
}

Overlap Overlap::intoPiece() const { return withPiece(*this, &CommonRun::target); }
Overlap Overlap::fromPiece() const { return withPiece(*this, &CommonRun::source); }

static std::vector<CommonRun> commonRuns(std::span<const Range> source, std::span<const Range> target) {
  std::vector<CommonRun> runs;
  // Offsets count elements of the local tensors, in which the ranges of a dim follow one another without gaps.
  int64_t sourcePlace = 0;
  for (const Range &a : source) {
    int64_t targetPlace = 0;
    for (const Range &b : target) {
      int64_t begin = std::max(a.offset, b.offset), end = std::min(a.offset + a.size, b.offset + b.size);
      if (begin < end) {
        CommonRun run{sourcePlace + begin - a.offset, targetPlace + begin - b.offset, end - begin};
        // Adjacent pieces, for example of neighbouring shards, merge to one copy.
        bool continues = !runs.empty() && runs.back().source + runs.back().size == run.source &&
                         runs.back().target + runs.back().size == run.target;
        if (continues)
          runs.back().size += run.size;
        else
          runs.push_back(run);
      }
      targetPlace += b.size;
    }
    sourcePlace += a.size;
  }
  return runs;
}

Overlap meshplan::overlapOf(const SliceRanges &source, const SliceRanges &target) {
  Overlap overlap;
  for (size_t dim = 0; dim < source.size(); ++dim)
    // Slices are products of ranges, so their overlap is the product of the overlaps of the dims.
    overlap.dims.push_back(commonRuns(source[dim], target[dim]));
  return overlap;
}

static bool isInOrder(const Overlap &overlap, std::span<const int64_t> shape, int64_t begin, int64_t CommonRun::*side) {
  if (overlap.elementCount() == 0)
    return true;
  std::vector<int64_t> strides = contiguousStrides(shape);
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
    first += run.*side * strides[dim];
  }
  return first == begin;
}

bool meshplan::isSourceInOrder(const Overlap &overlap, std::span<const int64_t> shape, int64_t begin) {
  return isInOrder(overlap, shape, begin, &CommonRun::source);
}

bool meshplan::isTargetInOrder(const Overlap &overlap, std::span<const int64_t> shape, int64_t begin) {
  return isInOrder(overlap, shape, begin, &CommonRun::target);
}
