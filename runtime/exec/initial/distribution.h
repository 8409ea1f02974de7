//===- distribution.h - numbers of a distribution by their place -*- C++ -*-===//
//
// Pure and thread safe.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_RUNTIME_EXEC_INITIAL_DISTRIBUTION_H
#define MESHPLAN_RUNTIME_EXEC_INITIAL_DISTRIBUTION_H

#include "runtime/schema/schedule_generated.h"

#include <cstdint>
#include <span>
#include <string_view>

namespace meshplan {

/// Where the normal distribution of mean 0 and deviation 1 has the part `probability`, above 0 and below 1, below it.
/// Exact to about 16 digits (Wichura: Algorithm AS 241, 1988).
double normalQuantile(double probability);

/// The elements of one tensor, each of which follows from its number, the seed and the name and from nothing else.
class ElementDraws {
public:
  /// `name` is what tells the numbers of one tensor from those of others. Precondition: elements are not given.
  ElementDraws(const artifact::Init &init, uint64_t seed, std::string_view name);

  /// Fills `out` with the elements first, first + 1, ... of the tensor, counted row-major in the whole. An element
  /// takes one number of 52 random digits, from words 2n and 2n + 1 of a stream of Philox; a normal one is the quantile
  /// of it.
  void draw(uint64_t first, std::span<double> out) const;

private:
  double fromUnit(double unit) const;

  artifact::InitKind kind;
  double value, low, high, mean, deviation;
  double below = 0, inside = 0; ///< parts of the normal distribution: below the bounds, and between them
  bool isMirrored = false;      ///< the bounds are above the mean, where the upper part has more digits
  uint64_t seed, name;
};

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_EXEC_INITIAL_DISTRIBUTION_H
