//===- mesh_axes.h - ranks and their coordinates on a mesh ------*- C++ -*-===//
//
// A mesh is a list of axis sizes, and a rank a coordinate on each axis. Axes
// make shards and groups of ranks.
//
// The shard index of a rank is the mixed-radix number of its coordinates on the
// axes, major to minor: on a mesh [2, 3], the rank at coordinate (1, 2) holds
// shard 1 * 3 + 2 = 5 of a dim over both axes, and shard 2 of a dim over the
// second alone.
//
// Header only, standard library only, no state. All functions are pure and
// thread safe. Compiler and runtime both call them.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_RUNTIME_SCHEMA_MESH_AXES_H
#define MESHPLAN_RUNTIME_SCHEMA_MESH_AXES_H

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace meshplan {

/// A mesh axis or a part of one. A whole axis of size n is {axis, 1, n}. The sub-axis `tp:(p)s` is {tp, p, s}: of the n
/// coordinates of the axis, written as a mixed-radix number (p, s, n / (p * s)), it is the digit in the middle. For
/// example, {tp, 2, 2} of an axis of size 8 is the middle bit: 0 at coordinate 5 (binary 101).
struct AxisRef {
  int64_t axis = 0; ///< index of the axis in the mesh, outermost is 0
  int64_t pre = 1;  ///< product of the sizes of the more major digits
  int64_t size = 1; ///< number of shards that this digit makes

  bool operator==(const AxisRef &) const = default;
};

/// What is left of an axis or digit without a digit of it: what is major and what is minor to that, each of size 1 if
/// there is nothing.
struct AxisRemainder {
  AxisRef major, minor;

  bool operator==(const AxisRemainder &) const = default;
};

/// The remainder of `whole` without `digit`, or nothing if `whole` does not have it. Example: of an axis of 8, {0, 1,
/// 8}, the digit {0, 2, 2} leaves {0, 1, 2} and {0, 4, 2}.
inline std::optional<AxisRemainder> withoutDigit(const AxisRef &whole, const AxisRef &digit) {
  int64_t end = digit.pre * digit.size;
  if (whole.axis != digit.axis || digit.pre % whole.pre != 0 || whole.pre * whole.size % end != 0)
    return std::nullopt;
  return AxisRemainder{{whole.axis, whole.pre, digit.pre / whole.pre}, {whole.axis, end, whole.pre * whole.size / end}};
}

/// Coordinate of `rank` on every axis of a mesh with these axis sizes. The last axis varies fastest.
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

/// The ranks of the communicator over `axes` to which the rank at `coordinate` belongs, in the order of their shard
/// index.
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

#endif // MESHPLAN_RUNTIME_SCHEMA_MESH_AXES_H
