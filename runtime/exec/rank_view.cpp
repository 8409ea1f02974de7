//===- rank_view.cpp - one rank's part of a program's values --------------===//

#include "runtime/exec/rank_view.h"

using namespace meshplan;

RankView::RankView(const artifact::Schedule &schedule, const artifact::Program &program, int64_t rank)
    : scheduleTable(&schedule), programTable(&program), ownRank(rank), meshSizes(meshSizesOf(schedule, program)),
      coordinate(coordinateOfRank(rank, meshSizes)) {}

int64_t RankView::evaluate(const artifact::IntExpr &expression) const {
  int64_t result = expression.constant();
  if (expression.value() < 0)
    return result;
  DimSharding dim = dimShardingOf(*value(expression.value()).dims()->Get(expression.dim()));
  // A scale of zero means that the term is absent. It is not evaluated, because a dim with parts has no single offset.
  if (expression.offset_scale() != 0)
    result += expression.offset_scale() * localOffset(dim, meshSizes, coordinate);
  if (expression.extent_scale() != 0)
    result += expression.extent_scale() * localExtent(dim, meshSizes, coordinate);
  return result;
}

std::vector<int64_t> RankView::group(const artifact::Communicator &communicator) const {
  return groupOf(axesOf(communicator.axes()), meshSizes, coordinate);
}

std::vector<SliceRanges> RankView::slices(int index) const {
  // A run of the box is not a box; it splits into several slices.
  if (isFlat(value(index)))
    return slicesOfRun(ranges(index), run(index));
  return std::vector<SliceRanges>(1, ranges(index));
}

SliceRanges RankView::firstHeld(int index) const {
  SliceRanges ranges;
  for (const artifact::Dim *dim : *value(index).dims())
    ranges.push_back(firstHeldRanges(dimShardingOf(*dim), meshSizes, coordinate));
  return ranges;
}

std::vector<int64_t> RankView::globalPosition(int index, int64_t element) const {
  // `element` counts the rank's tensor, which is the slices one after the other, each in row-major order.
  std::vector<int64_t> shape = globalShapeOf(value(index)), strides = contiguousStrides(shape);
  int64_t begin = 0, position = 0;
  for (const SliceRanges &slice : slices(index)) {
    (void)forEachRun(slice, shape, strides, [&](int64_t global, int64_t local, int64_t count) {
      if (int64_t offset = element - begin - local; offset >= 0 && offset < count)
        position = global + offset;
      return Status();
    });
    begin += elementCount(sliceShape(slice));
  }
  return positionOf(position, shape);
}

/// Calls visit(axis reference) for each axis over which a value is sharded.
template <typename Visit> static void forEachAxisOf(const artifact::Value &value, const Visit &visit) {
  auto take = [&](const auto *axes) {
    for (const AxisRef &axis : axesOf(axes))
      visit(axis);
  };
  for (const artifact::Dim *dim : *value.dims())
    take(dim->axes());
  take(value.flat_axes());
}

int64_t RankView::holders(int index) const {
  // Each axis that splits the value divides the ranks into groups of equal size, so the quotient is exact.
  int64_t count = worldSize();
  forEachAxisOf(value(index), [&](const AxisRef &axis) { count /= axis.size; });
  return count;
}

/// The axes that do not split a value number its holders. Example: mesh dp=2, tp=3 and a weight split over tp. Ranks 1
/// and 4 hold its second shard, with coordinates (0, 1) and (1, 1); dp alone counts, so they are holders 0 and 1. A
/// value may be split over a part of an axis. Then the coordinate is a number with several digits: on an axis of 12
/// that is read as 2 x 3 x 2, a value split over the middle 3 has 2 * 2 holders, numbered by the first and the last
/// digit.
int64_t RankView::indexAmongHolders(int index) const {
  std::vector<std::vector<AxisRef>> dividing(meshSizes.size());
  forEachAxisOf(value(index), [&](const AxisRef &axis) { dividing[axis.axis].push_back(axis); });
  int64_t position = 0;
  for (size_t axis = 0; axis < meshSizes.size(); ++axis) {
    std::ranges::sort(dividing[axis], {}, &AxisRef::pre);
    // Appends the digits of the coordinate, most significant first, that do not shard the value. They number the
    // replicas.
    int64_t before = 1; // product of the sizes of all digits so far
    auto append = [&](int64_t size) {
      int64_t after = meshSizes[axis] / (before * size);
      position = position * size + coordinate[axis] / after % size;
      before *= size;
    };
    for (const AxisRef &used : dividing[axis]) {
      append(used.pre / before);
      before *= used.size;
    }
    append(meshSizes[axis] / before);
  }
  return position;
}
