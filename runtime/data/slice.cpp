//===- slice.cpp - the contiguous runs of a part of a tensor --------------===//

#include "runtime/data/slice.h"

#include "runtime/base/names.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <numeric>

namespace meshplan {

namespace {

// Visits the runs of a slice dim by dim. Example: columns 0-1 of a [3, 4] tensor are three runs of 2 elements, at
// global offsets 0, 4 and 8. Rows 1-2 are one run of 8 elements at offset 4.
class RunWalk {
public:
  RunWalk(const SliceRanges &ranges, std::span<const int64_t> shape, std::span<const int64_t> strides,
          const RunFunction &run)
      : ranges(ranges), strides(strides), run(run), leaf(shape.size()) {
    // Trailing whole dims with contiguous elements form one run.
    while (leaf > 0 && strides[leaf - 1] == runLength && isWhole(ranges[leaf - 1], shape[leaf - 1]))
      runLength *= shape[--leaf];
    // The rows of a range follow one another too, if nothing lies between them.
    rangeIsRun = leaf > 0 && strides[leaf - 1] == runLength;
  }

  Status visit(size_t dim, int64_t global) {
    if (dim == leaf)
      return emit(global, runLength);
    for (const Range &range : ranges[dim]) {
      if (dim + 1 == leaf && rangeIsRun) {
        MESHPLAN_RETURN_IF_ERROR(emit(global + range.offset * strides[dim], range.size * runLength));
        continue;
      }
      for (int64_t i = range.offset; i < range.offset + range.size; ++i)
        MESHPLAN_RETURN_IF_ERROR(visit(dim + 1, global + i * strides[dim]));
    }
    return Status();
  }

private:
  static bool isWhole(const std::vector<Range> &list, int64_t extent) {
    return list.size() == 1 && list[0] == Range{0, extent};
  }

  Status emit(int64_t global, int64_t count) {
    if (count == 0)
      return Status();
    int64_t begin = local;
    local += count;
    return run(global, begin, count);
  }

  const SliceRanges &ranges;
  std::span<const int64_t> strides;
  const RunFunction &run;
  size_t leaf;           // the dims from here on form one run
  int64_t runLength = 1; // number of elements of that run
  bool rangeIsRun;       // each range of the dim before `leaf` is one longer run
  int64_t local = 0;
};

} // namespace

SliceRanges wholeTensor(std::span<const int64_t> shape) {
  SliceRanges ranges;
  for (int64_t extent : shape)
    ranges.push_back({{0, extent}});
  return ranges;
}

std::vector<int64_t> sliceShape(const SliceRanges &ranges) {
  std::vector<int64_t> shape;
  for (const std::vector<Range> &list : ranges) {
    int64_t extent = 0;
    for (const Range &range : list)
      extent += range.size;
    shape.push_back(extent);
  }
  return shape;
}

std::vector<Range> localPart(std::span<const Range> ranges, int64_t begin, int64_t count) {
  std::vector<Range> part;
  for (const Range &range : ranges) {
    int64_t first = std::clamp<int64_t>(begin, 0, range.size), last = std::clamp<int64_t>(begin + count, 0, range.size);
    if (first < last)
      part.push_back({range.offset + first, last - first});
    // From here on `begin` counts from the next range.
    begin -= range.size;
  }
  return part;
}

namespace {
/// Cuts a run at the row boundaries of each dim, into the end of a row, whole rows, and the beginning of a row.
/// Example: the elements 2-9 of a local [3, 4] tensor are row 0, columns 2-3; row 1; row 2, columns 0-1.
class RunCutter {
public:
  explicit RunCutter(const SliceRanges &ranges) : strides(contiguousStrides(sliceShape(ranges))), prefix(ranges) {}

  std::vector<SliceRanges> slices;

  void cut(size_t dim, int64_t begin, int64_t end) {
    if (begin == end)
      return;
    if (dim == strides.size())
      return slices.push_back(prefix);
    int64_t stride = strides[dim], first = (begin + stride - 1) / stride, last = end / stride;
    // `first` is the first row that starts in the run, `last` the row in which the run ends.
    if (first > last) // within one row
      return within(dim, last, begin, end);
    within(dim, first - 1, begin, first * stride);
    if (first < last)
      // Whole rows need no further cut: the dims after `dim` keep all of their ranges.
      withRows(dim, first, last - first, [&] { slices.push_back(prefix); });
    within(dim, last, last * stride, end);
  }

private:
  void within(size_t dim, int64_t row, int64_t begin, int64_t end) {
    if (begin < end)
      withRows(dim, row, 1, [&] { cut(dim + 1, begin - row * strides[dim], end - row * strides[dim]); });
  }

  template <typename Body> void withRows(size_t dim, int64_t begin, int64_t count, const Body &body) {
    std::vector<Range> whole = prefix[dim];
    prefix[dim] = localPart(whole, begin, count);
    body();
    prefix[dim] = std::move(whole);
  }

  std::vector<int64_t> strides;
  SliceRanges prefix;
};
} // namespace

std::vector<SliceRanges> slicesOfRun(const SliceRanges &ranges, Range run) {
  RunCutter cutter(ranges);
  cutter.cut(0, run.offset, run.offset + run.size);
  return std::move(cutter.slices);
}

int64_t elementCount(std::span<const int64_t> shape) {
  return std::accumulate(shape.begin(), shape.end(), int64_t(1), std::multiplies<>());
}

std::vector<int64_t> contiguousStrides(std::span<const int64_t> shape) {
  std::vector<int64_t> strides(shape.size());
  int64_t stride = 1;
  // Row-major: the last dim varies fastest.
  for (size_t i = shape.size(); i-- > 0; stride *= shape[i])
    strides[i] = stride;
  return strides;
}

std::vector<int64_t> positionOf(int64_t element, std::span<const int64_t> shape) {
  std::vector<int64_t> position;
  for (int64_t stride : contiguousStrides(shape)) {
    position.push_back(element / stride);
    element %= stride;
  }
  return position;
}

Status checkSlice(const SliceRanges &ranges, std::span<const int64_t> shape) {
  if (ranges.size() != shape.size())
    return Status::error(StatusCode::invalid, "a slice of ", ranges.size(), " dims of a tensor of shape ",
                         shapeText(shape));
  for (size_t dim = 0; dim < shape.size(); ++dim)
    for (const Range &range : ranges[dim])
      if (range.offset < 0 || range.size < 0 || range.offset > shape[dim] || range.size > shape[dim] - range.offset)
        return Status::error(StatusCode::invalid, "elements ", range.offset, " to ", range.offset + range.size,
                             " of dim ", dim, " of a tensor of shape ", shapeText(shape));
  return Status();
}

Status forEachRun(const SliceRanges &ranges, std::span<const int64_t> shape, std::span<const int64_t> strides,
                  const RunFunction &run) {
  // If a dim is empty, there is nothing to visit; the dims before it may be very large.
  std::vector<int64_t> local = sliceShape(ranges);
  if (std::ranges::find(local, 0) != local.end())
    return Status();
  // The cost is the number of runs, whatever their length: one for rows of a row-major tensor, one for each row for its
  // columns.
  return RunWalk(ranges, shape, strides, run).visit(0, 0);
}

Status copySlice(const std::byte *source, DType from, const SliceRanges &ranges, std::span<const int64_t> shape,
                 std::span<const int64_t> strides, std::byte *out, DType to) {
  return forEachRun(ranges, shape, strides, [&](int64_t global, int64_t local, int64_t count) {
    const std::byte *run = source + global * dtypeSize(from);
    std::byte *target = out + local * dtypeSize(to);
    if (from == to)
      std::memcpy(target, run, static_cast<size_t>(count * dtypeSize(to)));
    else
      convertFloats(run, from, target, to, count);
    return Status();
  });
}

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
    // Only with the last one: runs of a row-major tensor ascend. With other strides this joins fewer than it could,
    // which costs only requests.
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
