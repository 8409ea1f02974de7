//===- runtime_test.cpp - derivatives that the runtime computes -----------===//

#include "derive.h"

using namespace meshplan;

namespace {

using RuntimeDerivatives = DeriveTest;

TEST_F(RuntimeDerivatives, OperandsWithOtherFactorsHaveCallsOfTheirOwn) {
  EXPECT_EQ(derive("aten.prelu.default", "self = $0, weight = $1", "2x4x3xf32, 4xf32 -> 2x4x3xf32"),
            "%0 = vjp.aten.prelu.default(gradients [g], of 'self', self a, weight b): 2x4x3xf32\n"
            "%1 = vjp.aten.prelu.default(gradients [g], of 'weight', self a, weight b): 4xf32\na: %0\nb: %1");
  EXPECT_EQ(deriveOnly({1}, "aten.atan2.default", "self = $0, other = $1", "4xf32, 4xf32 -> 4xf32"),
            "%0 = vjp.aten.atan2.default(gradients [g], of 'other', other b, self a): 4xf32\nb: %0");
}

/// Each call recomputes the operator, and a recurrent layer has many weights.
TEST_F(RuntimeDerivatives, OperandsWithTheSameFactorsShareACall) {
  EXPECT_EQ(derive("aten.atan2.default", "self = $0, other = $1", "4xf32, 4xf32 -> 4xf32"),
            "%0, %1 = vjp.aten.atan2.default(gradients [g], of 'other, self', other b, self a): 4xf32, 4xf32\n"
            "b: %0\na: %1");
  EXPECT_EQ(derive("aten.rnn_tanh.input", "input = $0, hx = $1, params = [$2, $3], has_biases = false, num_layers = 1",
                   "5x6x2xf32, 1x6x3xf32, 3x2xf32, 3x3xf32 -> 5x6x3xf32, 1x6x3xf32"),
            "%0, %1 = vjp.aten.rnn_tanh.input(gradients [g0, g1], has_biases false, hx b, input a, num_layers 1, "
            "of 'hx, input', params [c, d]): 1x6x3xf32, 5x6x2xf32\n"
            "%2, %3 = vjp.aten.rnn_tanh.input(gradients [g0, g1], has_biases false, hx b, input a, num_layers 1, "
            "of 'params.0, params.1', params [c, d]): 3x2xf32, 3x3xf32\n"
            "b: %0\na: %1\nc: %2\nd: %3");
}

/// With sharded features of the input, each rank would have the whole gradient of a bias.
TEST_F(RuntimeDerivatives, WhatIsAddedHasACallOfItsOwn) {
  EXPECT_EQ(
      deriveOnly({1, 2}, "aten.bilinear.default", "input1 = $0, input2 = $0, weight = $1, bias = $2",
                 "4x1xf32, 6x1x1xf32, 6xf32 -> 4x6xf32"),
      "%0 = vjp.aten.bilinear.default(bias c, gradients [g], input1 a, input2 a, of 'bias', weight b): 6xf32\n"
      "%1 = vjp.aten.bilinear.default(bias c, gradients [g], input1 a, input2 a, of 'weight', weight b): 6x1x1xf32\n"
      "c: %0\nb: %1");
}

/// So the call knows the shapes of all results; a view of a single zero takes no memory.
TEST_F(RuntimeDerivatives, ResultsWithoutGradientHaveZeros) {
  EXPECT_EQ(deriveOnly({2}, "aten.lstm.input", "input = $0, hx = [$1, $2], has_biases = false, num_layers = 1",
                       "4x2xf32, 1x3xf32, 1x3xf32 -> 4x3xf32, 1x3xf32!"),
            "%0 = aten.zeros.default(dtype f32, size [1, 1]): 1x1xf32\n"
            "%1 = aten.expand.default(self %0, size [1, 3]): 1x3xf32\n"
            "%2 = vjp.aten.lstm.input(gradients [g0, %1], has_biases false, hx [b, c], input a, num_layers 1, "
            "of 'hx.1'): 1x3xf32\nc: %2");
  EXPECT_EQ(derive("aten.max_pool2d_with_indices.default", "self = $0, kernel_size = [2, 2]",
                   "2x4x6x6xf32 -> 2x4x3x3xf32, 2x4x3x3xi64"),
            "%0 = aten.zeros.default(dtype i64, size [1, 1, 1, 1]): 1x1x1x1xi64\n"
            "%1 = aten.expand.default(self %0, size [2, 4, 3, 3]): 2x4x3x3xi64\n"
            "%2 = vjp.aten.max_pool2d_with_indices.default(gradients [g0, %1], kernel_size [2, 2], of 'self', self a): "
            "2x4x6x6xf32\na: %2");
}

/// As an argument and as an item of a list: the gradient is the sum for both.
TEST_F(RuntimeDerivatives, AnOperandUnderTwoNamesGetsBoth) {
  EXPECT_EQ(derive("aten.atan2.default", "self = $0, other = $0", "4xf32 -> 4xf32"),
            "%0, %1 = vjp.aten.atan2.default(gradients [g], of 'other, self', other a, self a): 4xf32, 4xf32\n"
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

} // namespace
