//===- extent.h - the shard of a tensor that a rank holds -------*- C++ -*-===//
//
// The one function from (global extent, sharding, mesh coordinate) to local
// extent. Compiler and runtime both call it, so that the size which the
// compiler reports is the size which the runtime allocates.
//
// Blocks. A dim of `extent` elements consists of blocks of `unit` elements that
// are never cut (a head, a row). Of B blocks, shard i of n holds blocks ceil(i
// B / n) up to, but not including, ceil((i + 1) B / n). Sizes differ by at most
// one block, and the first shard is among the largest. The shards of a coarser
// division are unions of those of a finer one: an axis can be added or removed
// at the minor end without moving the elements that stay. For example, over n =
// 4:
//
//   10 elements, unit 1:   [0, 3) [3, 5) [5, 8) [8, 10)
//   n = 2 for comparison:  [0, 5)        [5, 10)
//
// Shared blocks. Several consumers may need one block (the query heads that
// share a key head). With `repeat` r a block counts r times when blocks are
// distributed, and a shard holds every block of which it gets at least one
// count. Neighbours may then hold the same block. For example, 3 key heads of 8
// elements, each shared by 3 query heads, over n = 4: the 9 query heads are
// split 3 + 2 + 2 + 2.
//
//   query heads            0 1 2 | 3 4 | 5 6   | 7 8
//   their key heads        0     | 1   | 1 2   | 2
//   shardRange             [0,8) | [8,16) | [8,24) | [16,24)
//   firstHeldRange         [0,8) | [8,16) | [16,24) | empty
//
// Parts. A dim with parts (a fused weight) is divided part by part, each in its
// own blocks, and a shard holds one range of each part, in order. For example,
// a fused qkv weight of 4 query, 2 key and 2 value heads of 2 elements, over n
// = 2:
//
//   parts                  [0, 8)  [8, 12)  [12, 16)
//   shard 0                [0, 4)  [8, 10)  [12, 14)
//   shard 1                [4, 8)  [10, 12) [14, 16)
//
// Flat. The shard that the dims leave to a rank may be split again, as
// elements in row-major order without regard to dims (flatRange): data
// parallelism stores parameters and optimizer states in this form.
//
// Header only, standard library only, no state. All functions are pure and
// thread safe. Preconditions are asserted: the dialects of the compiler, or the
// loader of the artifact, have verified them.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_RUNTIME_SCHEMA_EXTENT_H
#define MESHPLAN_RUNTIME_SCHEMA_EXTENT_H

#include "runtime/schema/mesh_axes.h"

#include <cassert>
#include <numeric>

namespace meshplan {

/// A half-open range of elements [offset, offset + size) of one dim.
struct Range {
  int64_t offset = 0;
  int64_t size = 0;

  bool operator==(const Range &) const = default;
};

/// One part of a dim, and how it is divided. An integer converts to a part that is divided element by element.
struct DimPart {
  int64_t extent = 0;
  int64_t unit = 1;   ///< elements of a block, which is never cut
  int64_t repeat = 1; ///< how often each block counts

  constexpr DimPart(int64_t extent = 0, int64_t unit = 1, int64_t repeat = 1)
      : extent(extent), unit(unit), repeat(repeat) {}
  bool operator==(const DimPart &) const = default;
};

/// How one dim of a tensor is divided: the axes, major to minor, and either block size and repeat count or, for a fused
/// weight, its parts. The extents of the parts sum to `extent`; `unit` and `repeat` are then 1.
struct DimSharding {
  int64_t extent = 0;
  std::vector<AxisRef> axes;
  int64_t unit = 1;
  std::vector<DimPart> parts;
  int64_t repeat = 1;
};

/// Number of blocks, out of `blocks`, that the first `shards` of `count` shards get together.
inline int64_t blocksOfFirst(int64_t shards, int64_t blocks, int64_t count) {
  // ceil(shards * blocks / count), without the product, which may overflow: the quotient for each shard, and the rest.
  return blocks / count * shards + (blocks % count * shards + count - 1) / count;
}

/// Elements of shard `index` of `count`, when `extent` elements are distributed in blocks that count `repeat` times
/// each.
inline Range shardRange(int64_t extent, int64_t unit, int64_t count, int64_t index, int64_t repeat = 1) {
  assert(unit > 0 && extent % unit == 0 && index >= 0 && index < count && repeat > 0);
  int64_t blocks = extent / unit * repeat;
  int64_t begin = blocksOfFirst(index, blocks, count), end = blocksOfFirst(index + 1, blocks, count);
  int64_t first = begin / repeat;
  int64_t last = begin == end ? first : (end - 1) / repeat + 1;
  return {first * unit, (last - first) * unit};
}

/// The elements of shardRange that no lower shard holds.
inline Range firstHeldRange(int64_t extent, int64_t unit, int64_t count, int64_t index, int64_t repeat = 1) {
  assert(unit > 0 && extent % unit == 0 && index >= 0 && index < count && repeat > 0);
  int64_t blocks = extent / unit * repeat;
  int64_t first = (blocksOfFirst(index, blocks, count) + repeat - 1) / repeat;
  int64_t last = (blocksOfFirst(index + 1, blocks, count) + repeat - 1) / repeat;
  return {first * unit, (last - first) * unit};
}

/// Ranges of the global dim that shard `index` holds, in local order: a single one, or one for each part. `rangeOf` is
/// shardRange or firstHeldRange.
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

/// True if all shards have one size, and each is a single range.
inline bool hasEqualShards(const DimSharding &dim) {
  return dim.parts.empty() && dim.repeat == 1 && dim.extent % (dim.unit * shardCount(dim.axes)) == 0;
}

/// The axes of a dim without `digit`, which is one of them or a digit of one. Nothing if the dim does not have it, or
/// if it is not the most minor one and shards are unequal: how many elements the other axes would leave to a rank
/// depends on which they are.
inline std::optional<std::vector<AxisRef>> axesWithout(const DimSharding &dim, const AxisRef &digit) {
  for (size_t index = 0; index < dim.axes.size(); ++index) {
    std::optional<AxisRemainder> rest = withoutDigit(dim.axes[index], digit);
    bool isMinor = rest && rest->minor.size == 1 && index + 1 == dim.axes.size();
    if (!rest || (!isMinor && !hasEqualShards(dim)))
      continue;
    std::vector<AxisRef> axes(dim.axes.begin(), dim.axes.begin() + static_cast<std::ptrdiff_t>(index));
    for (const AxisRef &left : {rest->major, rest->minor})
      if (left.size != 1)
        axes.push_back(left);
    axes.insert(axes.end(), dim.axes.begin() + static_cast<std::ptrdiff_t>(index) + 1, dim.axes.end());
    return axes;
  }
  return std::nullopt;
}

/// Ranges of the global dim that the rank at `coordinate` holds.
inline std::vector<Range> localRanges(const DimSharding &dim, std::span<const int64_t> meshSizes,
                                      std::span<const int64_t> coordinate) {
  return shardRanges(dim, shardIndex(dim.axes, meshSizes, coordinate));
}

/// The elements of localRanges that no lower shard holds.
inline std::vector<Range> firstHeldRanges(const DimSharding &dim, std::span<const int64_t> meshSizes,
                                          std::span<const int64_t> coordinate) {
  return shardRanges(dim, shardIndex(dim.axes, meshSizes, coordinate), firstHeldRange);
}

/// Number of elements of the dim that the rank at `coordinate` holds.
inline int64_t localExtent(const DimSharding &dim, std::span<const int64_t> meshSizes,
                           std::span<const int64_t> coordinate) {
  int64_t size = 0;
  for (const Range &range : localRanges(dim, meshSizes, coordinate))
    size += range.size;
  return size;
}

/// First element of the dim that the rank at `coordinate` holds. A dim with parts has no single offset: use
/// localRanges.
inline int64_t localOffset(const DimSharding &dim, std::span<const int64_t> meshSizes,
                           std::span<const int64_t> coordinate) {
  assert(dim.parts.empty() && "a dim with parts has one range for each part");
  return localRanges(dim, meshSizes, coordinate).front().offset;
}

/// The elements, in row-major order of a tensor of `elements` elements, that the rank at `coordinate` holds when they
/// are split evenly over `axes`, regardless of dims.
inline Range flatRange(int64_t elements, std::span<const AxisRef> axes, std::span<const int64_t> meshSizes,
                       std::span<const int64_t> coordinate) {
  return shardRange(elements, 1, shardCount(axes), shardIndex(axes, meshSizes, coordinate));
}

/// Number of shards, from the first on, among which every size occurs. Without shared blocks the first shard is among
/// the largest. With them a later shard may touch one block more. Sizes repeat after the smallest number of shards that
/// gets a whole number of blocks.
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

/// Elements of the largest shard, which every rank must be able to hold.
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

/// Elements of the largest shard of a tensor: the dims are divided first, and what they leave to a rank is then split
/// evenly over `flatAxes`. Every rank must be able to hold it.
inline int64_t largestShard(std::span<const DimSharding> dims, std::span<const AxisRef> flatAxes) {
  int64_t elements = 1;
  for (const DimSharding &dim : dims)
    elements *= largestExtent(dim);
  // The largest run of a flat tensor is one of the largest shard of its dims.
  int64_t count = shardCount(flatAxes);
  return elements / count + (elements % count != 0);
}

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_SCHEMA_EXTENT_H
