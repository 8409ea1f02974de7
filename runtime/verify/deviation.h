//===- deviation.h - error bounds -------------------------------*- C++ -*-===//
//
// The error bounds of verify. A tensor T of the program is compared with the exact tensor X: the reference in f64.
// PyTorch runs the same model in its own precision and also deviates from X. The largest such deviation over several
// runs is PyTorch's own error E. The program is right if its error is not much larger than E.
//
// Example, f32: the largest element of X is 100, and E = 2e-5. The bound is max(3 * 2e-5, 1e-6 * 100) = 1e-4. An error
// of 8e-5 is right, and 2e-4 is wrong. With 16-bit parameters and E = 0.03 the bound is 0.09, whatever the magnitude.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_RUNTIME_VERIFY_DEVIATION_H
#define MESHPLAN_RUNTIME_VERIFY_DEVIATION_H

#include "runtime/tensor/elements.h"

namespace meshplan {

/// The largest error of a tensor relative to the exact one, PyTorch's own error, and the bound.
struct Deviation {
  double error = 0, own = 0, bound = 0;

  /// The error divided by the bound; infinite if either is non-finite.
  double ratio() const;
  bool isRight() const { return ratio() <= 1; }
};

/// The maximal number of PyTorch runs that determine its own error: the first is unchanged, the others have perturbed
/// rounding. The largest error of a tensor varies at most like the magnitude of one normal random number (if one
/// element, or elements that one rounding moves together, dominates). The probability that such a magnitude exceeds 3
/// times the largest of 32 others is
///
///   integral over x of density(|x|) * P(|y| <= x / 3)^32  =  6e-7.
///
/// Runs with perturbed rounding have twice the error, which makes it even less likely.
inline constexpr int mostDraws = 32;
inline constexpr double mostOwnErrors = 3;

/// The bound is max(mostOwnErrors * own, 1e-6 * magnitude), where `magnitude` is the largest magnitude of all tensors
/// of the same kind. `isHalf`, for results and parameters of models with 16-bit parameters: the bound is mostOwnErrors
/// * own, and elements that equal the exact ones rounded once are right in any case. `isChanged`, for 16-bit tensors
/// that an optimizer updates: 1.5 * own, since each element is rounded by itself and the error does not vary between
/// runs.
Deviation deviationOf(const ElementErrors &errors, double own, double magnitude, bool isHalf, bool isChanged = false);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_VERIFY_DEVIATION_H
