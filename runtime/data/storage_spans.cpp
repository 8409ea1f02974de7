//===- storage_spans.cpp - storage ranges of a slice ----------------------===//

#include "runtime/data/storage_spans.h"

#include <algorithm>
#include <numeric>

namespace meshplan {

static Range joined(Range left, Range right) {
  int64_t begin = std::min(left.offset, right.offset);
  return {begin, std::max(left.offset + left.size, right.offset + right.size) - begin};
}

/// True if at most `gap` elements lie between the two ranges.
static bool areNear(Range left, Range right, int64_t gap) {
  Range both = joined(left, right);
  return both.size - left.size - right.size <= gap;
}

std::vector<Range> storageSpans(const SliceRanges &ranges, std::span<const int64_t> shape,
                                std::span<const int64_t> strides, int64_t gap, size_t most) {
  std::vector<Range> spans;
  bool tooMany = false;
  auto add = [&](int64_t begin, int64_t, int64_t count) {
    Range run{begin, count};
    if (!spans.empty() && (tooMany || areNear(spans.back(), run, gap))) {
      spans.back() = joined(spans.back(), run);
      // Too fragmented: a single span reads more than needed, but in one sequential request.
    } else if (spans.size() == most) {
      spans = {std::accumulate(spans.begin(), spans.end(), run, joined)};
      tooMany = true;
    } else {
      spans.push_back(run);
    }
    return Status();
  };
  static_cast<void>(forEachRun(ranges, shape, strides, add)); // `add` never fails
  return spans;
}

} // namespace meshplan
