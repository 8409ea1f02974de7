//===- storage_spans.cpp - where a slice lies in its storage --------------===//

#include "runtime/data/storage_spans.h"

#include <algorithm>
#include <numeric>

namespace meshplan {

namespace {

class SpanWalk {
public:
  SpanWalk(const SliceRanges &ranges, std::span<const int64_t> strides, int64_t gap)
      : ranges(ranges), strides(strides), gap(gap), order(strides.size()), bounds(strides.size() + 1, Range{0, 1}) {
    std::iota(order.begin(), order.end(), size_t(0));
    std::ranges::stable_sort(order, std::greater<>(), [&](size_t dim) { return strides[dim]; });
    for (denseFrom = order.size(); denseFrom > 0 && isDense(order[denseFrom - 1]); --denseFrom)
      bounds[denseFrom - 1] = boundOf(order[denseFrom - 1], bounds[denseFrom]);
  }

  void visit(size_t place, int64_t offset) {
    if (place == denseFrom)
      return add({offset + bounds[place].offset, bounds[place].size});
    size_t dim = order[place];
    for (const Range &range : ranges[dim]) {
      if (place + 1 == denseFrom && strides[dim] <= gap) {
        add({offset + range.offset * strides[dim] + bounds[place + 1].offset,
             (range.size - 1) * strides[dim] + bounds[place + 1].size});
        continue;
      }
      for (int64_t i = range.offset; i < range.offset + range.size; ++i)
        visit(place + 1, offset + i * strides[dim]);
    }
  }

  std::vector<Range> spans;

private:
  /// Indices of the dim that follow each other are near in the storage.
  bool isDense(size_t dim) const {
    const std::vector<Range> &list = ranges[dim];
    return std::ranges::adjacent_find(list,
                                      [&](const Range &before, const Range &after) {
                                        int64_t jump = after.offset - (before.offset + before.size - 1);
                                        return jump < 0 || jump > gap / std::max<int64_t>(strides[dim], 1);
                                      }) == list.end() &&
           strides[dim] <= gap;
  }

  /// From the first to the last element of a dense dim, each with elements `below`.
  Range boundOf(size_t dim, Range below) const {
    int64_t first = ranges[dim].front().offset, last = ranges[dim].back().offset + ranges[dim].back().size - 1;
    return {below.offset + first * strides[dim], below.size + (last - first) * strides[dim]};
  }

  void add(Range span) {
    if (!spans.empty() && span.offset >= spans.back().offset) {
      Range &before = spans.back();
      if (span.offset - (before.offset + before.size) <= gap) {
        before.size = std::max(before.size, span.offset + span.size - before.offset);
        return;
      }
    }
    spans.push_back(span);
  }

  const SliceRanges &ranges;
  std::span<const int64_t> strides;
  int64_t gap;
  std::vector<size_t> order; // dims, the largest stride first
  size_t denseFrom = 0;      // dims from this place on have no jump larger than the gap
  std::vector<Range> bounds; // of the dims from each such place on
};

} // namespace

std::vector<Range> storageSpans(const SliceRanges &ranges, std::span<const int64_t> strides, int64_t gap) {
  if (elementCount(sliceShape(ranges)) == 0)
    return {};
  SpanWalk walk(ranges, strides, gap);
  walk.visit(0, 0);
  return std::move(walk.spans);
}

} // namespace meshplan
