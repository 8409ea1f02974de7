//===- deviation.h - how wrong a tensor may be -------------------*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_VERIFY_DEVIATION_H
#define MESHPLAN_RUNTIME_VERIFY_DEVIATION_H

#include "runtime/tensor/elements.h"

namespace meshplan {

/// The largest error of a tensor against the exact one, that of PyTorch's own run, and what is allowed.
struct Deviation {
  double error = 0, own = 0, bound = 0;

  /// The error as a share of the bound; infinite where one of the two is no finite number.
  double ratio() const;
  bool isRight() const { return ratio() <= 1; }
};

/// Runs of PyTorch that an error is held against: one as it is, the others rounded anew. The largest error of a tensor
/// varies at most as the size of one normal number does (one number, or elements that one rounding moves together).
/// That such a size is more than 3 times the largest of 32 others has a probability of 6e-7: the integral over x of the
/// density of |x| times P(|y| <= x / 3) to the power of 32. Runs that are rounded anew have twice the error, and leave
/// less.
inline constexpr int mostDraws = 32;
inline constexpr double mostOwnErrors = 3;

/// Allowed is the larger one of mostOwnErrors times the own error and 1e-6 of `magnitude`, the largest magnitude of all
/// tensors of its kind. With `isHalf`, of what a model with 16-bit parameters gives and of such a parameter, it is a
/// multiple of the own error alone, and elements that are the exact ones, rounded once, are right whatever the own
/// error is. What an optimizer keeps in 16 bits (`isChanged`) is rounded element by element, and is no draw: 1.5 times.
Deviation deviationOf(const ElementErrors &errors, double own, double magnitude, bool isHalf, bool isChanged = false);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_VERIFY_DEVIATION_H
