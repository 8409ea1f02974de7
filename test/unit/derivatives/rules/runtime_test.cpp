//===- runtime_test.cpp - derivatives that the runtime finds --------------===//

#include "../derive.h"

using namespace meshplan;

namespace {

using RuntimeDerivatives = DeriveTest;

TEST_F(RuntimeDerivatives, EachOperandHasACallOfItsOwn) {
  EXPECT_EQ(derive("aten.prelu.default", "self = $0, weight = $1", "2x4x3xf32, 4xf32 -> 2x4x3xf32"),
            "%0 = vjp.aten.prelu.default(gradients [g], of 'self', self a, weight b): 2x4x3xf32\n"
            "%1 = vjp.aten.prelu.default(gradients [g], of 'weight', self a, weight b): 4xf32\na: %0\nb: %1");
  EXPECT_EQ(deriveOnly({1}, "aten.atan2.default", "self = $0, other = $1", "4xf32, 4xf32 -> 4xf32"),
            "%0 = vjp.aten.atan2.default(gradients [g], of 'other', other b, self a): 4xf32\nb: %0");
}

TEST_F(RuntimeDerivatives, AnItemOfAListIsNamedByItsPlace) {
  EXPECT_EQ(deriveOnly({2}, "aten.lstm.input", "input = $0, hx = [$1, $2], has_biases = false, num_layers = 1",
                       "4x2xf32, 1x3xf32, 1x3xf32 -> 4x3xf32, 1x3xf32!"),
            "%0 = vjp.aten.lstm.input(gradients [g0, None], has_biases false, hx [b, c], input a, num_layers 1, "
            "of 'hx', of_index 1): 1x3xf32\nc: %0");
}

/// As argument and as item of a list: the gradient is that of both.
TEST_F(RuntimeDerivatives, AnOperandUnderTwoNamesGetsBoth) {
  EXPECT_EQ(derive("aten.atan2.default", "self = $0, other = $0", "4xf32 -> 4xf32"),
            "%0 = vjp.aten.atan2.default(gradients [g], of 'other', other a, self a): 4xf32\n"
            "%1 = vjp.aten.atan2.default(gradients [g], of 'self', other a, self a): 4xf32\n"
            "%2 = aten.add.Tensor(other %1, self %0): 4xf32\na: %2");
}

TEST_F(RuntimeDerivatives, KernelsOfTheRuntimeHaveNone) {
  EXPECT_EQ(derive("meshplan.mean_addend", "self = $0, count = 4", "4xf32 -> f32"),
            "refused: the runtime's kernel 'meshplan.mean_addend' has no derivative");
}

TEST_F(RuntimeDerivatives, WhatIsDrawnHasNone) {
  EXPECT_EQ(derive("aten.bernoulli.p", "self = $0, p = 0.5", "4xf32 -> 4xf32"), "refused: it draws random numbers");
}

TEST_F(RuntimeDerivatives, WhatLibTorchDoesNotKnowHasNone) {
  EXPECT_EQ(derive("custom.scan.default", "self = $0", "4xf32 -> 4xf32"),
            "refused: LibTorch differentiates operators of ATen only");
}

TEST_F(RuntimeDerivatives, OperatorsThatPyTorchDoesNotDifferentiate) {
  EXPECT_EQ(derive("aten.aminmax.default", "self = $0", "4xf32 -> f32, f32"),
            "refused: PyTorch has no derivative of it");
}

} // namespace
