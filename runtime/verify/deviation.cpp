//===- deviation.cpp - error bounds ---------------------------------------===//

#include "runtime/verify/deviation.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace meshplan;

double Deviation::ratio() const {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  if (!std::isfinite(error) || !std::isfinite(bound))
    return infinity;
  // A bound of zero is exact equality, as of integers.
  if (bound > 0)
    return error / bound;
  return error > 0 ? infinity : 0;
}

Deviation meshplan::deviationOf(const ElementErrors &errors, double own, double magnitude, bool isHalf,
                                bool isChanged) {
  double bound = isHalf ? (isChanged ? 1.5 : mostOwnErrors) * own : std::max(mostOwnErrors * own, 1e-6 * magnitude);
  // If the largest error exceeds the bound, correctly rounded elements may be the reason; then the others count.
  bool counts = !isHalf || errors.largest <= bound;
  return {counts ? errors.largest : errors.ofOthers, own, bound};
}
