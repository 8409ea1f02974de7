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

/// Allowed is the larger one of 4 times the own error and 1e-6 of `magnitude`, the largest magnitude of all tensors of
/// its kind. With `isHalf`, of what a model with 16-bit parameters gives and of such a parameter, it is 1.5 times the
/// own error, and elements that are the exact ones, rounded once, are right whatever the own error is.
Deviation deviationOf(const ElementErrors &errors, double own, double magnitude, bool isHalf);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_VERIFY_DEVIATION_H
