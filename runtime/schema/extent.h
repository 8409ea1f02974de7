//===- extent.h - which part of a tensor a rank holds ------------*- C++ -*-===//
//
// The one function from (global extent, sharding, mesh coordinate) to local
// extent. Compiler and runtime both call it, so that the size which the
// compiler reports is the size which the runtime allocates.
//
// A dim of `extent` elements is made of units of `unit` elements that are never
// cut (a head, a row). Of U units shard i of n holds those from ceil(i U / n) up
// to ceil((i + 1) U / n): sizes differ by at most one unit, the first shard is
// among the largest, and the shards of a coarser division are unions of those of
// a finer one, so that an axis may be taken away or added without moving what
// stays. A unit may be needed by several consumers (a key head by the query
// heads that share it). With `repeat` r it counts r times when it is dealt, and a
// shard holds every unit of which it is dealt a part: neighbours may hold the
// same.
//
// A dim with parts (a fused weight) is dealt part by part, each with units of its
// own, and a shard holds one range of each part, in order.
//
// What the dims leave to a rank may be cut once more, as elements in row-major
// order without regard to dims (flatRange): the storage of data parallelism.
//
// Header only, standard library only, no state. All functions are pure and
// thread safe. Preconditions are asserted: the compiler has verified them.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_RUNTIME_SCHEMA_EXTENT_H
#define MESHPLAN_RUNTIME_SCHEMA_EXTENT_H

#include <cassert>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

namespace meshplan {

/// A mesh axis or a part of one. A whole axis of size n is {axis, 1, n}. The
/// sub-axis `tp:(p)s` is {tp, p, s}: of the n coordinates of the axis, written
/// as a mixed-radix number (p, s, n / (p * s)), it is the digit in the middle.
struct AxisRef {
  int64_t axis = 0; ///< index of the axis in the mesh, outermost is 0
  int64_t pre = 1;  ///< product of the sizes of the digits that are more major
  int64_t size = 1; ///< number of shards that this digit makes

  bool operator==(const AxisRef &) const = default;
};

/// A half-open range of elements [offset, offset + size) of one dim.
struct Range {
  int64_t offset = 0;
  int64_t size = 0;

  bool operator==(const Range &) const = default;
};

/// One part of a dim, and how it is dealt. A number of elements is a part that is dealt element by element.
struct DimPart {
  int64_t extent = 0;
  int64_t unit = 1;   ///< elements that are never cut apart
  int64_t repeat = 1; ///< how often each unit counts

  constexpr DimPart(int64_t extent = 0, int64_t unit = 1, int64_t repeat = 1)
      : extent(extent), unit(unit), repeat(repeat) {}
  bool operator==(const DimPart &) const = default;
};

/// How one dim of a tensor is divided: major to minor list of axes, and either
/// elements per unit and how often each counts, or, for a fused weight, its
/// parts (their extents add up to that of the dim; unit and repeat are 1).
struct DimSharding {
  int64_t extent = 0;
  std::vector<AxisRef> axes;
  int64_t unit = 1;
  std::vector<DimPart> parts;
  int64_t repeat = 1;
};

/// Coordinate of `rank` on every axis of a mesh with these axis sizes; the last
/// axis varies fastest.
inline std::vector<int64_t> coordinateOfRank(int64_t rank, std::span<const int64_t> meshSizes) {
  std::vector<int64_t> coordinate(meshSizes.size());
  for (size_t i = meshSizes.size(); i-- > 0;) {
    coordinate[i] = rank % meshSizes[i];
    rank /= meshSizes[i];
  }
  return coordinate;
}

/// Inverse of coordinateOfRank.
inline int64_t rankOfCoordinate(std::span<const int64_t> coordinate, std::span<const int64_t> meshSizes) {
  int64_t rank = 0;
  for (size_t i = 0; i < meshSizes.size(); ++i)
    rank = rank * meshSizes[i] + coordinate[i];
  return rank;
}

/// Number of shards that a list of axes makes.
inline int64_t shardCount(std::span<const AxisRef> axes) {
  int64_t count = 1;
  for (const AxisRef &axis : axes)
    count *= axis.size;
  return count;
}

/// Index of the shard that the rank at `coordinate` holds under `axes`.
inline int64_t shardIndex(std::span<const AxisRef> axes, std::span<const int64_t> meshSizes,
                          std::span<const int64_t> coordinate) {
  int64_t index = 0;
  for (const AxisRef &axis : axes) {
    int64_t post = meshSizes[axis.axis] / (axis.pre * axis.size);
    int64_t digit = coordinate[axis.axis] / post % axis.size;
    index = index * axis.size + digit;
  }
  return index;
}

/// How many of `units` the first `shards` of `count` are dealt.
inline int64_t dealtUnits(int64_t units, int64_t count, int64_t shards) {
  // ceil(shards * units / count), where the product may not fit: of each count of units a shard is dealt one.
  return units / count * shards + (units % count * shards + count - 1) / count;
}

/// Range of shard `index` of `count` when `extent` elements are dealt in units, each counted `repeat` times.
inline Range shardRange(int64_t extent, int64_t unit, int64_t count, int64_t index, int64_t repeat = 1) {
  assert(unit > 0 && extent % unit == 0 && index >= 0 && index < count && repeat > 0);
  int64_t units = extent / unit * repeat;
  int64_t begin = dealtUnits(units, count, index), end = dealtUnits(units, count, index + 1), first = begin / repeat;
  int64_t last = begin == end ? first : (end - 1) / repeat + 1;
  return {first * unit, (last - first) * unit};
}

/// Of these elements, those that no shard before holds.
inline Range firstHeldRange(int64_t extent, int64_t unit, int64_t count, int64_t index, int64_t repeat = 1) {
  assert(unit > 0 && extent % unit == 0 && index >= 0 && index < count && repeat > 0);
  int64_t units = extent / unit * repeat;
  int64_t first = (dealtUnits(units, count, index) + repeat - 1) / repeat;
  int64_t last = (dealtUnits(units, count, index + 1) + repeat - 1) / repeat;
  return {first * unit, (last - first) * unit};
}

/// Ranges of the global dim that shard `index` holds, in local order: one, or
/// one for each part. With another `rangeOf`, what that says of each.
inline std::vector<Range> shardRanges(const DimSharding &dim, int64_t index,
                                      decltype(shardRange) rangeOf = shardRange) {
  int64_t count = shardCount(dim.axes);
  if (dim.parts.empty())
    return {rangeOf(dim.extent, dim.unit, count, index, dim.repeat)};
  std::vector<Range> ranges;
  int64_t start = 0;
  for (const DimPart &part : dim.parts) {
    Range range = rangeOf(part.extent, part.unit, count, index, part.repeat);
    ranges.push_back({start + range.offset, range.size});
    start += part.extent;
  }
  return ranges;
}

/// Ranges of the global dim that the rank at `coordinate` holds.
inline std::vector<Range> localRanges(const DimSharding &dim, std::span<const int64_t> meshSizes,
                                      std::span<const int64_t> coordinate) {
  return shardRanges(dim, shardIndex(dim.axes, meshSizes, coordinate));
}

/// Of these, what no shard before holds.
inline std::vector<Range> firstHeldRanges(const DimSharding &dim, std::span<const int64_t> meshSizes,
                                          std::span<const int64_t> coordinate) {
  return shardRanges(dim, shardIndex(dim.axes, meshSizes, coordinate), firstHeldRange);
}

/// Elements of the dim that the rank at `coordinate` holds.
inline int64_t localExtent(const DimSharding &dim, std::span<const int64_t> meshSizes,
                           std::span<const int64_t> coordinate) {
  int64_t size = 0;
  for (const Range &range : localRanges(dim, meshSizes, coordinate))
    size += range.size;
  return size;
}

/// First element of the dim that the rank at `coordinate` holds. For a dim with
/// parts there is no single offset; callers ask for the ranges.
inline int64_t localOffset(const DimSharding &dim, std::span<const int64_t> meshSizes,
                           std::span<const int64_t> coordinate) {
  assert(dim.parts.empty() && "a dim with parts has one range for each part");
  return localRanges(dim, meshSizes, coordinate).front().offset;
}

/// Of the `elements` of a rank's tensor, in row-major order, those that the rank at `coordinate` holds where they are
/// cut evenly over `axes`, whatever dims they belong to.
inline Range flatRange(int64_t elements, std::span<const AxisRef> axes, std::span<const int64_t> meshSizes,
                       std::span<const int64_t> coordinate) {
  return shardRange(elements, 1, shardCount(axes), shardIndex(axes, meshSizes, coordinate));
}

/// How many shards, from the first on, show every size that a shard may have. Where no units are shared the first is
/// among the largest. Else a shard in the middle may reach into one more; the pattern is over when whole numbers of
/// units have been dealt to a whole number of shards.
inline int64_t shardPattern(const DimSharding &dim) {
  int64_t count = shardCount(dim.axes), shards = 1;
  bool isShared = dim.repeat != 1;
  auto add = [&](int64_t extent, int64_t unit) { shards = std::lcm(shards, count / std::gcd(count, extent / unit)); };
  for (const DimPart &part : dim.parts) {
    isShared |= part.repeat != 1;
    add(part.extent, part.unit);
  }
  if (dim.parts.empty())
    add(dim.extent, dim.unit);
  return isShared ? shards : 1;
}

/// Elements of the largest shard: what every rank must be able to hold.
inline int64_t largestExtent(const DimSharding &dim) {
  int64_t size = 0;
  for (int64_t index = 0, shards = shardPattern(dim); index < shards; ++index) {
    int64_t held = 0;
    for (const Range &range : shardRanges(dim, index))
      held += range.size;
    size = held > size ? held : size;
  }
  return size;
}

/// The ranks of the communicator over `axes` that the rank at `coordinate`
/// belongs to, in the order of their shard index.
inline std::vector<int64_t> groupOf(std::span<const AxisRef> axes, std::span<const int64_t> meshSizes,
                                    std::span<const int64_t> coordinate) {
  int64_t count = shardCount(axes);
  std::vector<int64_t> ranks(count);
  for (int64_t index = 0; index < count; ++index) {
    std::vector<int64_t> peer(coordinate.begin(), coordinate.end());
    int64_t rest = index;
    for (size_t i = axes.size(); i-- > 0;) {
      const AxisRef &axis = axes[i];
      int64_t post = meshSizes[axis.axis] / (axis.pre * axis.size);
      int64_t own = peer[axis.axis] / post % axis.size;
      peer[axis.axis] += (rest % axis.size - own) * post;
      rest /= axis.size;
    }
    ranks[index] = rankOfCoordinate(peer, meshSizes);
  }
  return ranks;
}

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_SCHEMA_EXTENT_H
