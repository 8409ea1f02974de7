//===- pair_arithmetic.cpp - functions of complex numbers on pairs --------===//

#include "compiler/archive/complex/pair_arithmetic.h"

namespace meshplan::archive {

/// A product or quotient of parts; noValue, which is zero, stays so.
static ValueId partwise(PairWriter &writer, llvm::StringRef target, ValueId left, ValueId right, const Dims &dims) {
  return left == noValue || right == noValue ? noValue : writer.binary(target, left, right, dims);
}

Pair sumOf(PairWriter &writer, const Pair &left, const Pair &right, const Dims &dims) {
  auto part = [&](ValueId ours, ValueId theirs) {
    return ours == noValue && theirs == noValue ? noValue : writer.sum(ours, theirs, dims);
  };
  return {part(left.real, right.real), part(left.imag, right.imag)};
}

Pair productOf(PairWriter &writer, const PartProducts &products, const Dims &dims) {
  Pair result;
  if (products.realReal != noValue || products.imagImag != noValue)
    result.real = writer.difference(products.realReal, products.imagImag, dims);
  if (products.realImag != noValue || products.imagReal != noValue)
    result.imag = writer.sum(products.realImag, products.imagReal, dims);
  return result;
}

Pair productOf(PairWriter &writer, const Pair &self, std::complex<double> factor, const Dims &dims) {
  PartProducts products;
  products.realReal = writer.scaled(self.real, factor.real());
  products.imagImag = writer.scaled(self.imag, factor.imag());
  products.realImag = writer.scaled(self.real, factor.imag());
  products.imagReal = writer.scaled(self.imag, factor.real());
  Pair result = productOf(writer, products, dims);
  // At most one part may be missing, so a product with zero needs a tensor of zeros.
  if (result.real == noValue && result.imag == noValue)
    result.real = writer.unary("aten.zeros_like.default", writer.realOf(self));
  return result;
}

Pair quotientOf(PairWriter &writer, const Pair &left, const Pair &right, const Dims &dims) {
  auto over = [&](ValueId part, ValueId divisor) { return partwise(writer, "aten.div.Tensor", part, divisor, dims); };
  if (right.imag == noValue)
    return {over(left.real, right.real), over(left.imag, right.real)};
  if (right.real == noValue)
    return {over(left.imag, right.imag), writer.negated(over(left.real, right.imag))};
  Dims shape = writer.value(right.real).dims;
  // (a + bi) / (c + di) = ((ac + bd) + (bc - ad)i) / (c^2 + d^2). In f32, c^2 overflows for c = 1e20 although the
  // quotient is an ordinary number. Divided by the larger of |c| and |d|, both are at most 1 and the norm is between 1
  // and 2.
  ValueId scale = writer.binary("aten.maximum.default", writer.unary("aten.abs.default", right.real),
                                writer.unary("aten.abs.default", right.imag), shape);
  // The quotient does not depend on the scale, so its gradient would be zero up to rounding; it is not computed.
  scale = writer.unary("aten.detach.default", scale);
  ValueId c = writer.binary("aten.div.Tensor", right.real, scale, shape);
  ValueId d = writer.binary("aten.div.Tensor", right.imag, scale, shape);
  auto times = [&](ValueId part, ValueId factor) { return partwise(writer, "aten.mul.Tensor", part, factor, dims); };
  ValueId norm =
      writer.sum(writer.binary("aten.mul.Tensor", c, c, shape), writer.binary("aten.mul.Tensor", d, d, shape), shape);
  ValueId real = writer.sum(times(left.real, c), times(left.imag, d), dims);
  ValueId imag = writer.difference(times(left.imag, c), times(left.real, d), dims);
  return {over(over(real, norm), scale), over(over(imag, norm), scale)};
}

Pair squareOf(PairWriter &writer, const Pair &self, const Dims &dims) {
  auto times = [&](ValueId left, ValueId right) { return partwise(writer, "aten.mul.Tensor", left, right, dims); };
  ValueId mixed = times(self.real, self.imag);
  return {writer.difference(times(self.real, self.real), times(self.imag, self.imag), dims),
          mixed == noValue ? noValue : writer.sum(mixed, mixed, dims)};
}

Pair exponentialOf(PairWriter &writer, const Pair &self, const Dims &dims) {
  ValueId radius = self.real == noValue ? noValue : writer.unary("aten.exp.default", self.real);
  if (self.imag == noValue)
    return {radius, noValue};
  auto scaled = [&](llvm::StringRef target) {
    ValueId part = writer.unary(target, self.imag);
    return radius == noValue ? part : writer.binary("aten.mul.Tensor", radius, part, dims);
  };
  ValueId real = scaled("aten.cos.default");
  return {real, scaled("aten.sin.default")};
}

static ValueId compared(PairWriter &writer, llvm::StringRef target, ValueId self, double other) {
  return writer.write(target, {tensorArgument("self", self), {"other", Argument(other)}}, writer.value(self).dims,
                      ScalarType::Bool);
}

static ValueId filled(PairWriter &writer, ValueId self, ValueId mask, double value) {
  return writer.write("aten.masked_fill.Scalar",
                      {tensorArgument("self", self), tensorArgument("mask", mask), {"value", Argument(value)}},
                      writer.value(self).dims, writer.value(self).type);
}

/// True where both parts are zero.
static ValueId zeroMask(PairWriter &writer, const Pair &pair) {
  return writer.write("aten.logical_and.default",
                      {tensorArgument("self", compared(writer, "aten.eq.Scalar", pair.real, 0)),
                       tensorArgument("other", compared(writer, "aten.eq.Scalar", pair.imag, 0))},
                      writer.value(pair.real).dims, ScalarType::Bool);
}

ValueId modulusOf(PairWriter &writer, const Pair &self, const Dims &dims) {
  if (self.real == noValue || self.imag == noValue)
    return writer.unary("aten.abs.default", self.real == noValue ? self.imag : self.real);
  ValueId zero = zeroMask(writer, self);
  // The gradient of hypot at (0, 0) is 0 / 0, a NaN that would spread into all parameters. PyTorch's is 0. So zeros are
  // replaced by (1, 0) before, and the result by 0 after, which also stops the gradient there.
  ValueId modulus = writer.binary("aten.hypot.default", filled(writer, self.real, zero, 1), self.imag, dims);
  return filled(writer, modulus, zero, 0);
}

ValueId argumentOf(PairWriter &writer, const Pair &self, const Dims &dims) {
  Pair both{writer.realOf(self), writer.imagOf(self)};
  ValueId zero = zeroMask(writer, both);
  // The gradient of atan2 divides by the square of the modulus, so the same replacement is needed. The value at zero is
  // kept without a gradient: atan2(0, -0) is pi and not 0.
  ValueId here = writer.binary("aten.atan2.default", both.imag, filled(writer, both.real, zero, 1), dims);
  ValueId atZero = writer.unary("aten.detach.default", writer.binary("aten.atan2.default", both.imag, both.real, dims));
  return writer.write(
      "aten.where.self",
      {tensorArgument("condition", zero), tensorArgument("self", atZero), tensorArgument("other", here)}, dims,
      writer.value(here).type);
}

} // namespace meshplan::archive
