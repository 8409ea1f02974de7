//===- distribution.h - which initial distributions exist -------*- C++ -*-===//
//
// Which numbers make a distribution of a parameter's initial elements, decided once for the language, the dialects, the
// passes and the loader of the artifact. What the numbers mean: Init in schedule.fbs.
//
// Header only, standard library only, no state. The functions are pure and thread safe.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_RUNTIME_SCHEMA_DISTRIBUTION_H
#define MESHPLAN_RUNTIME_SCHEMA_DISTRIBUTION_H

#include <cmath>
#include <limits>

namespace meshplan {

/// True if elements of this kind lie between `low` and `high`. The enums of the dialects and of the artifact name their
/// kinds alike.
template <typename Kind> constexpr bool hasBounds(Kind kind) {
  return kind == Kind::uniform || kind == Kind::truncated_normal;
}

/// True if elements of this kind have a `mean` and a standard deviation, `std`.
template <typename Kind> constexpr bool hasDeviation(Kind kind) {
  return kind == Kind::normal || kind == Kind::truncated_normal;
}

/// The numbers of a distribution; those that its kind does not have are 0.
struct DistributionNumbers {
  double value = 0, low = 0, high = 0, mean = 0, std = 0;
  bool hasBounds = false, hasDeviation = false;
};

/// The most standard deviations that the nearer bound may be away from the mean. Further out, the probability is less
/// than 64 random bits can represent.
inline constexpr int mostDeviations = 8;

/// Values are drawn in float32, the type of masters. False for NaN.
inline bool isDrawable(double number) { return std::abs(number) <= std::numeric_limits<float>::max(); }

/// The first rule that the numbers break.
enum class DistributionFault {
  none,
  number,      ///< one is not drawable
  deviation,   ///< `std` is not above 0
  bounds,      ///< `high` is not above `low`
  unreachable, ///< the bounds exclude all within `mostDeviations` of the mean
};

inline DistributionFault distributionFault(const DistributionNumbers &numbers) {
  const auto &[value, low, high, mean, std, hasBounds, hasDeviation] = numbers;
  for (double number : {value, low, high, mean, std})
    if (!isDrawable(number))
      return DistributionFault::number;
  if (hasDeviation && !(std > 0))
    return DistributionFault::deviation;
  if (hasBounds && !(low < high))
    return DistributionFault::bounds;
  bool isReachable = low <= mean + mostDeviations * std && high >= mean - mostDeviations * std;
  return hasBounds && hasDeviation && !isReachable ? DistributionFault::unreachable : DistributionFault::none;
}

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_SCHEMA_DISTRIBUTION_H
