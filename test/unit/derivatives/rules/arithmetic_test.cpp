//===- arithmetic_test.cpp - derivatives of arithmetic and selection ------===//

#include "../derive.h"
#include "compiler/derivatives/derivative_rules.h"

using namespace meshplan;

namespace {

using ArithmeticDerivatives = DeriveTest;

constexpr char sameShapes[] = "4x6xf32, 4x6xf32 -> 4x6xf32";

TEST_F(ArithmeticDerivatives, Sums) {
  EXPECT_EQ(derive("aten.add.Tensor", both, sameShapes), "a: g\nb: g");
  EXPECT_EQ(derive("aten.add.Tensor", "self = $0, other = $1, alpha = 3", sameShapes),
            "%0 = aten.mul.Scalar(other 3, self g): 4x6xf32\na: g\nb: %0");
  EXPECT_EQ(derive("aten.add.Tensor", "self = $0, other = 1.0", "4xf32 -> 4xf32"), "a: g");
  EXPECT_EQ(derive("aten.add.Scalar", "self = $0, other = 1.0", "4xf32 -> 4xf32"), "a: g");
  EXPECT_EQ(derive("aten.sub.Tensor", both, sameShapes), "%0 = aten.neg.default(self g): 4x6xf32\na: g\nb: %0");
  EXPECT_EQ(derive("aten.sub.Tensor", "self = $0, other = $1, alpha = 2.0", sameShapes),
            "%0 = aten.mul.Scalar(other -2, self g): 4x6xf32\na: g\nb: %0");
  EXPECT_EQ(derive("aten.rsub.Scalar", "self = $0, other = 1.0, alpha = 2", "4xf32 -> 4xf32"),
            "%0 = aten.mul.Scalar(other -2, self g): 4xf32\na: %0");
  EXPECT_EQ(derive("aten.rsub.Tensor", both, sameShapes), "%0 = aten.neg.default(self g): 4x6xf32\nb: g\na: %0");
}

TEST_F(ArithmeticDerivatives, ABroadcastOperandIsSummed) {
  EXPECT_EQ(derive("aten.add.Tensor", both, "4x6xf32, 6xf32 -> 4x6xf32"),
            "%0 = aten.sum.dim_IntList(dim [0], keepdim false, self g): 6xf32\na: g\nb: %0");
  EXPECT_EQ(derive("aten.mul.Tensor", both, "4x1xf32, f32 -> 4x1xf32"),
            "%0 = aten.mul.Tensor(other b, self g): 4x1xf32\n"
            "%1 = aten.mul.Tensor(other a, self g): 4x1xf32\n"
            "%2 = aten.sum.dim_IntList(dim [0, 1], keepdim false, self %1): f32\na: %0\nb: %2");
}

TEST_F(ArithmeticDerivatives, AnOperandOfAnotherTypeKeepsIt) {
  EXPECT_EQ(deriveOnly({1}, "aten.add.Tensor", both, "4xf32, 4xbf16 -> 4xf32"),
            "%0 = aten.to.dtype(dtype bf16, self g): 4xbf16\nb: %0");
  EXPECT_EQ(derive("aten.mul.Tensor", both, "4xi64, 4xf32 -> 4xf32"),
            "%0 = aten.mul.Tensor(other a, self g): 4xf32\nb: %0")
      << "integers have no gradient";
}

TEST_F(ArithmeticDerivatives, Products) {
  EXPECT_EQ(derive("aten.mul.Tensor", both, sameShapes),
            "%0 = aten.mul.Tensor(other b, self g): 4x6xf32\n"
            "%1 = aten.mul.Tensor(other a, self g): 4x6xf32\na: %0\nb: %1");
  EXPECT_EQ(derive("aten.mul.Tensor", "self = $0, other = 2.0", "4xf32 -> 4xf32"),
            "%0 = aten.mul.Scalar(other 2, self g): 4xf32\na: %0");
  EXPECT_EQ(derive("aten.mul.Tensor", "self = $0, other = $0", "4xf32 -> 4xf32"),
            "%0 = aten.mul.Tensor(other a, self g): 4xf32\n"
            "%1 = aten.mul.Tensor(other a, self g): 4xf32\n"
            "%2 = aten.add.Tensor(other %1, self %0): 4xf32\na: %2")
      << "a square";
  EXPECT_EQ(derive("aten.square.default", "self = $0", "4xf32 -> 4xf32"),
            "%0 = aten.mul.Tensor(other a, self g): 4xf32\n%1 = aten.mul.Scalar(other 2, self %0): 4xf32\na: %1");
}

TEST_F(ArithmeticDerivatives, Quotients) {
  EXPECT_EQ(deriveOnly({0}, "aten.div.Tensor", both, sameShapes),
            "%0 = aten.div.Tensor(other b, self g): 4x6xf32\na: %0");
  EXPECT_EQ(deriveOnly({1}, "aten.div.Tensor", both, sameShapes), "%0 = aten.mul.Tensor(other r, self g): 4x6xf32\n"
                                                                  "%1 = aten.div.Tensor(other b, self %0): 4x6xf32\n"
                                                                  "%2 = aten.neg.default(self %1): 4x6xf32\nb: %2");
  EXPECT_EQ(derive("aten.div.Scalar", "self = $0, other = 4", "4xf32 -> 4xf32"),
            "%0 = aten.div.Scalar(other 4, self g): 4xf32\na: %0");
}

TEST_F(ArithmeticDerivatives, SumsOfProductsAndQuotients) {
  constexpr char args[] = "self = $0, tensor1 = $1, tensor2 = $2, value = 0.5";
  constexpr char types[] = "4xf32, 4xf32, 4xf32 -> 4xf32";
  EXPECT_EQ(derive("aten.addcmul.default", args, types), "%0 = aten.mul.Scalar(other 0.5, self g): 4xf32\n"
                                                         "%1 = aten.mul.Tensor(other c, self %0): 4xf32\n"
                                                         "%2 = aten.mul.Tensor(other b, self %0): 4xf32\n"
                                                         "a: g\nb: %1\nc: %2");
  EXPECT_EQ(derive("aten.addcdiv.default", args, types), "%0 = aten.mul.Scalar(other 0.5, self g): 4xf32\n"
                                                         "%1 = aten.div.Tensor(other c, self %0): 4xf32\n"
                                                         "%2 = aten.mul.Tensor(other b, self %1): 4xf32\n"
                                                         "%3 = aten.div.Tensor(other c, self %2): 4xf32\n"
                                                         "%4 = aten.neg.default(self %3): 4xf32\n"
                                                         "a: g\nb: %1\nc: %4");
}

/// If both are equal, each gets half.
TEST_F(ArithmeticDerivatives, TheLargerOneGetsTheGradient) {
  EXPECT_EQ(derive("aten.maximum.default", both, "4x6xf32, 6xf32 -> 4x6xf32"),
            "%0 = aten.eq.Tensor(other b, self a): 4x6xi1\n"
            "%1 = aten.mul.Scalar(other 0.5, self g): 4x6xf32\n"
            "%2 = aten.where.self(condition %0, other g, self %1): 4x6xf32\n"
            "%3 = aten.lt.Tensor(other b, self a): 4x6xi1\n"
            "%4 = aten.masked_fill.Scalar(mask %3, self %2, value 0): 4x6xf32\n"
            "%5 = aten.lt.Tensor(other a, self b): 4x6xi1\n"
            "%6 = aten.masked_fill.Scalar(mask %5, self %2, value 0): 4x6xf32\n"
            "%7 = aten.sum.dim_IntList(dim [0], keepdim false, self %6): 6xf32\n"
            "a: %4\nb: %7");
  EXPECT_EQ(deriveOnly({1}, "aten.min.other", both, "4xf32, 4xf32 -> 4xf32"),
            "%0 = aten.eq.Tensor(other b, self a): 4xi1\n"
            "%1 = aten.mul.Scalar(other 0.5, self g): 4xf32\n"
            "%2 = aten.where.self(condition %0, other g, self %1): 4xf32\n"
            "%3 = aten.gt.Tensor(other a, self b): 4xi1\n"
            "%4 = aten.masked_fill.Scalar(mask %3, self %2, value 0): 4xf32\nb: %4");
}

TEST_F(ArithmeticDerivatives, BoundsStopTheGradient) {
  EXPECT_EQ(derive("aten.clamp.default", "self = $0, min = -1, max = 2.5", "4xf32 -> 4xf32"),
            "%0 = aten.lt.Scalar(other -1, self a): 4xi1\n"
            "%1 = aten.masked_fill.Scalar(mask %0, self g, value 0): 4xf32\n"
            "%2 = aten.gt.Scalar(other 2.5, self a): 4xi1\n"
            "%3 = aten.masked_fill.Scalar(mask %2, self %1, value 0): 4xf32\na: %3");
  EXPECT_EQ(derive("aten.clamp_min.default", "self = $0, min = 0", "4xf32 -> 4xf32"),
            "%0 = aten.lt.Scalar(other 0, self a): 4xi1\n"
            "%1 = aten.masked_fill.Scalar(mask %0, self g, value 0): 4xf32\na: %1");
  EXPECT_EQ(deriveOnly({0}, "aten.clamp.Tensor", "self = $0, max = $1", "4x6xf32, 6xf32 -> 4x6xf32"),
            "%0 = aten.gt.Tensor(other b, self a): 4x6xi1\n"
            "%1 = aten.masked_fill.Scalar(mask %0, self g, value 0): 4x6xf32\na: %1");
  EXPECT_EQ(deriveOnly({0, 1}, "aten.clamp.Tensor", "self = $0, max = $1", "4xf32, 4xf32 -> 4xf32"),
            "%0, %1 = vjp.aten.clamp.Tensor(gradients [g], max b, of 'max, self', self a): 4xf32, 4xf32\nb: %0\na: %1")
      << "bounds that are trained";
}

TEST_F(ArithmeticDerivatives, Choices) {
  EXPECT_EQ(derive("aten.where.self", "condition = $0, self = $1, other = $2", "4x1xi1, 6xf32, f32 -> 4x6xf32"),
            "%0 = aten.logical_not.default(self a): 4x1xi1\n"
            "%1 = aten.masked_fill.Scalar(mask %0, self g, value 0): 4x6xf32\n"
            "%2 = aten.sum.dim_IntList(dim [0], keepdim false, self %1): 6xf32\n"
            "%3 = aten.masked_fill.Scalar(mask a, self g, value 0): 4x6xf32\n"
            "%4 = aten.sum.dim_IntList(dim [0, 1], keepdim false, self %3): f32\nb: %2\nc: %4");
  EXPECT_EQ(derive("aten.where.ScalarOther", "condition = $0, self = $1, other = 0.0", "4xi1, 4xf32 -> 4xf32"),
            "%0 = aten.logical_not.default(self a): 4xi1\n"
            "%1 = aten.masked_fill.Scalar(mask %0, self g, value 0): 4xf32\nb: %1");
  EXPECT_EQ(derive("aten.masked_fill.Scalar", "self = $0, mask = $1, value = -1.0", "4x6xf32, 6xi1 -> 4x6xf32"),
            "%0 = aten.masked_fill.Scalar(mask b, self g, value 0): 4x6xf32\na: %0");
  EXPECT_EQ(deriveOnly({2}, "aten.masked_fill.Tensor", "self = $0, mask = $1, value = $2", "4xf32, 4xi1, f32 -> 4xf32"),
            "%0 = aten.logical_not.default(self b): 4xi1\n"
            "%1 = aten.masked_fill.Scalar(mask %0, self g, value 0): 4xf32\n"
            "%2 = aten.sum.dim_IntList(dim [0], keepdim false, self %1): f32\nc: %2");
}

TEST_F(ArithmeticDerivatives, Powers) {
  auto power = [&](const char *exponent) {
    return derive("aten.pow.Tensor_Scalar", std::string("self = $0, exponent = ") + exponent, "4xf32 -> 4xf32");
  };
  EXPECT_EQ(power("2"), "%0 = aten.mul.Tensor(other a, self g): 4xf32\n"
                        "%1 = aten.mul.Scalar(other 2, self %0): 4xf32\na: %1");
  EXPECT_EQ(power("-0.5"), "%0 = aten.pow.Tensor_Scalar(exponent -1.5, self a): 4xf32\n"
                           "%1 = aten.mul.Tensor(other %0, self g): 4xf32\n"
                           "%2 = aten.mul.Scalar(other -0.5, self %1): 4xf32\na: %2");
  EXPECT_EQ(power("0"), "nothing");
  EXPECT_EQ(power("1"), "a: g");
}

TEST_F(ArithmeticDerivatives, Signs) {
  EXPECT_EQ(derive("aten.neg.default", "self = $0", "4xf32 -> 4xf32"), "%0 = aten.neg.default(self g): 4xf32\na: %0");
  EXPECT_EQ(derive("aten.abs.default", "self = $0", "4xf32 -> 4xf32"),
            "%0 = aten.sgn.default(self a): 4xf32\n%1 = aten.mul.Tensor(other %0, self g): 4xf32\na: %1");
}

TEST_F(ArithmeticDerivatives, RoundingHasNone) {
  for (const char *target : {"aten.floor.default", "aten.round.default", "aten.sign.default", "aten.trunc.default"})
    EXPECT_EQ(derive(target, "self = $0", "4xf32 -> 4xf32"), "nothing") << target;
  EXPECT_EQ(derive("aten.div.Tensor_mode", "self = $0, other = $1, rounding_mode = \"floor\"", sameShapes), "nothing");
}

TEST_F(ArithmeticDerivatives, WhatIsConstantAlmostEverywhereHasZeros) {
  auto zeros = [&](const char *target, const char *args, const char *types) {
    auto derivation = begin(target, args, types);
    derivativeOf(target)(*derivation);
    EXPECT_TRUE(derivation->getGiven().empty()) << target;
    return derivation->getZeros().size();
  };
  for (const char *target : {"aten.floor.default", "aten.ceil.default", "aten.round.default", "aten.round.decimals",
                             "aten.trunc.default", "aten.fix.default", "aten.sign.default", "aten.sgn.default"})
    EXPECT_EQ(zeros(target, "self = $0", "4xf32 -> 4xf32"), 1u) << target;
  EXPECT_EQ(zeros("aten.div.Tensor_mode", "self = $0, other = $1, rounding_mode = \"trunc\"", sameShapes), 2u);
  EXPECT_EQ(zeros("aten.pow.Tensor_Scalar", "self = $0, exponent = 0", "4xf32 -> 4xf32"), 1u);
}

/// Without a rounding mode it is an ordinary quotient.
TEST_F(ArithmeticDerivatives, ADivisionWithoutRoundingHasOne) {
  EXPECT_EQ(deriveOnly({0}, "aten.div.Tensor_mode", both, sameShapes),
            "%0 = aten.div.Tensor(other b, self g): 4x6xf32\na: %0");
  EXPECT_EQ(derive("aten.div.Scalar_mode", "self = $0, other = 4", "4xf32 -> 4xf32"),
            "%0 = aten.div.Scalar(other 4, self g): 4xf32\na: %0");
}

} // namespace
