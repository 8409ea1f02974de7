//===- pair_arithmetic.h - functions of complex numbers on pairs -*- C++ -*-===//
//
// Each writes the real nodes of one function of complex tensors and returns the
// parts of the result, in the shape `dims`. The gradients of these nodes are
// those that PyTorch defines for the function.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_COMPILER_ARCHIVE_COMPLEX_PAIR_ARITHMETIC_H
#define MESHPLAN_COMPILER_ARCHIVE_COMPLEX_PAIR_ARITHMETIC_H

#include "compiler/archive/complex/pair_writer.h"

#include <complex>

namespace meshplan::archive {

/// The four products of the parts of two complex tensors; noValue where a part is zero everywhere.
struct PartProducts {
  ValueId realReal = noValue, imagImag = noValue, realImag = noValue, imagReal = noValue;
};

Pair sumOf(PairWriter &writer, const Pair &left, const Pair &right, const Dims &dims);

/// The product of two tensors whose parts have been multiplied.
Pair productOf(PairWriter &writer, const PartProducts &products, const Dims &dims);
/// In the shape of `self`.
Pair productOf(PairWriter &writer, const Pair &self, std::complex<double> factor, const Dims &dims);

/// As in PyTorch, both parts of the divisor are first divided by the larger one, so that their squares neither overflow
/// nor underflow. The quotient does not depend on that scale, so no gradient flows through it.
Pair quotientOf(PairWriter &writer, const Pair &left, const Pair &right, const Dims &dims);

Pair squareOf(PairWriter &writer, const Pair &self, const Dims &dims);
Pair exponentialOf(PairWriter &writer, const Pair &self, const Dims &dims);

/// The absolute value. The derivative at zero is zero, as in PyTorch, although that of hypot is NaN there.
ValueId modulusOf(PairWriter &writer, const Pair &self, const Dims &dims);

/// The angle. Where both parts are zero, atan2 has no finite gradient: its value there is taken without a gradient, and
/// the other branch is computed at (1, 0) instead.
ValueId argumentOf(PairWriter &writer, const Pair &self, const Dims &dims);

} // namespace meshplan::archive

#endif // MESHPLAN_COMPILER_ARCHIVE_COMPLEX_PAIR_ARITHMETIC_H
