//===- rate_table.cpp - times by size, interpolated -----------------------===//

#include "compiler/cluster/rate_table.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

using namespace meshplan;

double RateTable::at(double size, double least) const {
  if (size >= sizes.back())
    return seconds.back() * (size / sizes.back());
  if (size <= sizes.front())
    return std::max(std::min(least, seconds.front()), seconds.front() * (size / sizes.front()));
  size_t next = std::upper_bound(sizes.begin(), sizes.end(), size) - sizes.begin(), last = next - 1;
  double weight = (size - sizes[last]) / (sizes[next] - sizes[last]);
  return seconds[last] + (seconds[next] - seconds[last]) * weight;
}

namespace {
/// The neighbours of an extent on an axis of the grid.
struct Neighbours {
  size_t low, high;
  double weight; ///< of `high`
  double beyond; ///< factor by which the extent exceeds the axis, at least 1
};
} // namespace

static Neighbours neighboursOf(const std::vector<double> &axis, double extent) {
  if (extent <= axis.front())
    return {0, 0, 0, 1};
  if (extent >= axis.back())
    return {axis.size() - 1, axis.size() - 1, 0, extent / axis.back()};
  size_t high = std::upper_bound(axis.begin(), axis.end(), extent) - axis.begin();
  double weight = std::log(extent / axis[high - 1]) / std::log(axis[high] / axis[high - 1]);
  return {high - 1, high, weight, 1};
}

double ProductTable::at(const ProductShape &shape) const {
  Neighbours a = neighboursOf(m, shape.m), b = neighboursOf(n, shape.n), c = neighboursOf(k, shape.k);
  double logarithm = 0;
  for (unsigned corner = 0; corner < 8; ++corner) {
    bool i = corner & 4, j = corner & 2, l = corner & 1;
    double weight = (i ? a.weight : 1 - a.weight) * (j ? b.weight : 1 - b.weight) * (l ? c.weight : 1 - c.weight);
    size_t index = ((i ? a.high : a.low) * n.size() + (j ? b.high : b.low)) * k.size() + (l ? c.high : c.low);
    // At a shape of the grid only one corner has a weight, and the others may not change its bits.
    if (weight == 1)
      return seconds[index] * a.beyond * b.beyond * c.beyond * shape.count;
    if (weight > 0)
      logarithm += weight * std::log(seconds[index]);
  }
  return std::exp(logarithm) * a.beyond * b.beyond * c.beyond * shape.count;
}
