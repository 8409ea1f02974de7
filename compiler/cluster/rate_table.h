//===- rate_table.h - times by size, interpolated ---------------*- C++ -*-===//
//
// How long an operation takes, from times at some sizes. Between two sizes the time is linear in the size, which is
// exact for a fixed time plus a rate. Pure functions.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_COMPILER_CLUSTER_RATE_TABLE_H
#define MESHPLAN_COMPILER_CLUSTER_RATE_TABLE_H

#include <array>
#include <vector>

namespace meshplan {

/// Times by one size: flops or bytes. `sizes` increase, `seconds` do not decrease, and there are equally many.
struct RateTable {
  std::vector<double> sizes, seconds;

  bool empty() const { return sizes.empty(); }

  /// Seconds for `size`: exact at the sizes of the table, and never decreasing. Below the first size and above the last
  /// one the rate stays, but below the first one the time is at least `least`, or the first time if that is shorter.
  /// The table is not empty.
  double at(double size, double least) const;
};

/// A matrix product: [m, k] x [k, n], `count` of them.
struct ProductShape {
  double m = 1, n = 1, k = 1, count = 1;

  double flops() const { return 2 * m * n * k * count; }
};

/// Times of matrix products on a grid of shapes. `seconds[(i * n.size() + j) * k.size() + l]` is that of m[i], n[j] and
/// k[l]; each axis increases, and the times do not decrease along any axis.
struct ProductTable {
  std::vector<double> m, n, k, seconds;

  bool empty() const { return seconds.empty(); }

  /// Seconds for all products of `shape`: exact on the grid, and never decreasing in m, n or k. Inside the grid the
  /// logarithm of the time is linear in the logarithm of each extent, because times of products differ by orders of
  /// magnitude between neighbours. Outside the nearest extent of the grid counts: above it the rate stays, below it the
  /// time. The table is not empty.
  double at(const ProductShape &shape) const;
};

} // namespace meshplan

#endif // MESHPLAN_COMPILER_CLUSTER_RATE_TABLE_H
