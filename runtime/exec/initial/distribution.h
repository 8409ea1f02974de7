//===- distribution.h - random elements by position -------------*- C++ -*-===//
//
// Random elements of a tensor, each computed from its position. Pure and thread safe.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_RUNTIME_EXEC_INITIAL_DISTRIBUTION_H
#define MESHPLAN_RUNTIME_EXEC_INITIAL_DISTRIBUTION_H

#include "runtime/schema/schedule_generated.h"

#include <cstdint>
#include <span>
#include <string_view>

namespace meshplan {

/// The quantile function of the standard normal distribution, for a probability strictly between 0 and 1. Exact to
/// about 16 digits (Wichura: Algorithm AS 241, 1988).
double normalQuantile(double probability);

/// The elements of one tensor. Each depends only on its position, the seed and the name.
class ElementDraws {
public:
  /// `name` selects the random stream of the tensor. Precondition: the kind is not `given`.
  ElementDraws(const artifact::Init &init, uint64_t seed, std::string_view name);

  /// Fills `out` with the elements first, first + 1, ... of the row-major whole tensor. An element uses a number of 52
  /// random bits, from words 2n and 2n + 1 of a Philox stream; a normal element is the quantile of that number.
  ///
  /// Example: element 5 of `w` takes words 10 and 11 of the stream (seed, hash of "w"). A rank that holds elements 4 to
  /// 7 calls draw(4) and computes exactly these, whatever the sharding.
  void draw(uint64_t first, std::span<double> out) const;

private:
  double fromUnit(double unit) const;

  artifact::InitKind kind;
  double value, low, high, mean, deviation;
  double below = 0, inside = 0; ///< probabilities: below the bounds, and between them
  bool isMirrored = false;      ///< the bounds are above the mean; use the upper tail, which is more precise
  uint64_t seed, name;
};

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_EXEC_INITIAL_DISTRIBUTION_H
