//===- normalization_test.cpp - derivatives of softmax and norms ----------===//

#include "../derive.h"

using namespace meshplan;

namespace {

using NormalizationDerivatives = DeriveTest;

TEST_F(NormalizationDerivatives, SoftmaxReadsItsResult) {
  EXPECT_EQ(
      derive("aten._softmax.default", "self = $0, dim = 1, half_to_float = false", "4x6xf32 -> 4x6xf32"),
      "%0 = aten._softmax_backward_data.default(dim 1, grad_output g, input_dtype f32, output r): 4x6xf32\na: %0");
  EXPECT_EQ(
      derive("aten._safe_softmax.default", "self = $0, dim = -1", "4x6xf32 -> 4x6xf32"),
      "%0 = aten._softmax_backward_data.default(dim -1, grad_output g, input_dtype f32, output r): 4x6xf32\na: %0");
  EXPECT_EQ(derive("aten.log_softmax.int", "self = $0, dim = -1", "4x6xf32 -> 4x6xf32"),
            "%0 = aten._log_softmax_backward_data.default(dim -1, grad_output g, input_dtype f32, output r): 4x6xf32\n"
            "a: %0");
}

/// The operand is converted first.
TEST_F(NormalizationDerivatives, SoftmaxToAnotherType) {
  EXPECT_EQ(derive("aten.softmax.int", "self = $0, dim = -1, dtype = f32", "4x6xbf16 -> 4x6xf32"),
            "%0 = aten._softmax_backward_data.default(dim -1, grad_output g, input_dtype f32, output r): 4x6xf32\n"
            "%1 = aten.to.dtype(dtype bf16, self %0): 4x6xbf16\na: %1");
}

TEST_F(NormalizationDerivatives, NormsHaveACallForInputAndWeight) {
  EXPECT_EQ(derive("aten.layer_norm.default",
                   "input = $0, normalized_shape = [8], weight = $1, bias = $2, eps = 1.0e-5",
                   "2x4x8xf32, 8xf32, 8xf32 -> 2x4x8xf32"),
            "%0 = meshplan.layer_norm_input_gradient(eps 1e-05, gradient g, input a, normalized_shape [8], weight b): "
            "2x4x8xf32\n"
            "%1 = meshplan.layer_norm_weight_gradient(eps 1e-05, gradient g, input a, normalized_shape [8]): 8xf32\n"
            "%2 = aten.sum.dim_IntList(dim [0, 1], keepdim false, self g): 8xf32\na: %0\nb: %1\nc: %2");
  EXPECT_EQ(derive("aten.rms_norm.default", "input = $0, normalized_shape = [4, 8]", "2x4x8xf32 -> 2x4x8xf32"),
            "%0 = meshplan.rms_norm_input_gradient(gradient g, input a, normalized_shape [4, 8]): 2x4x8xf32\na: %0")
      << "neither weight nor epsilon";
}

/// Statistics may have any reader as long as the loss does not read them.
TEST_F(NormalizationDerivatives, StatisticsHaveNone) {
  constexpr char args[] = "input = $0, normalized_shape = [8], weight = $1, eps = 1.0e-5";
  EXPECT_EQ(deriveOnly({1}, "aten.native_layer_norm.default", args, "4x8xf32, 8xf32 -> 4x8xf32, 4x1xf32!, 4x1xf32!"),
            "%0 = meshplan.layer_norm_weight_gradient(eps 1e-05, gradient g0, input a, normalized_shape [8]): 8xf32\n"
            "b: %0");
  EXPECT_EQ(derive("aten.native_layer_norm.default", args, "4x8xf32, 8xf32 -> 4x8xf32, 4x1xf32!, 4x1xf32"),
            "refused: the statistics of a norm have no derivative");
  EXPECT_EQ(derive("aten._fused_rms_norm.default", args, "4x8xf32, 8xf32 -> 4x8xf32!, 4x1xf32"),
            "refused: the statistics of a norm have no derivative");
}

TEST_F(NormalizationDerivatives, ANormOfKnownStatisticsIsAScaleAndAShift) {
  EXPECT_EQ(deriveOnly({0, 1, 2}, "aten._native_batch_norm_legit_no_training.default",
                       "input = $0, weight = $1, bias = $2, running_mean = $3, running_var = $4, momentum = 0.1, "
                       "eps = 0.5",
                       "2x3x4xf32, 3xf32, 3xf32, 3xf32, 3xf32 -> 2x3x4xf32, 0xf32!, 0xf32!"),
            "%0 = aten.add.Scalar(other 0.5, self e): 3xf32\n"
            "%1 = aten.rsqrt.default(self %0): 3xf32\n"
            "%2 = aten.reshape.default(self %1, shape [1, 3, 1]): 1x3x1xf32\n"
            "%3 = aten.reshape.default(self b, shape [1, 3, 1]): 1x3x1xf32\n"
            "%4 = aten.mul.Tensor(other %3, self %2): 1x3x1xf32\n"
            "%5 = aten.mul.Tensor(other %4, self g0): 2x3x4xf32\n"
            "%6 = aten.reshape.default(self d, shape [1, 3, 1]): 1x3x1xf32\n"
            "%7 = aten.sub.Tensor(other %6, self a): 2x3x4xf32\n"
            "%8 = aten.mul.Tensor(other %2, self %7): 2x3x4xf32\n"
            "%9 = aten.mul.Tensor(other %8, self g0): 2x3x4xf32\n"
            "%10 = aten.sum.dim_IntList(dim [0, 2], keepdim false, self %9): 3xf32\n"
            "%11 = aten.sum.dim_IntList(dim [0, 2], keepdim false, self g0): 3xf32\na: %5\nb: %10\nc: %11");
}

TEST_F(NormalizationDerivatives, ANormOfTheBatchIsLeftToTheRuntime) {
  EXPECT_EQ(derive("aten.batch_norm.default",
                   "input = $0, training = true, momentum = 0.1, eps = 0.5, cudnn_enabled = true",
                   "2x3x4xf32 -> 2x3x4xf32"),
            "%0 = vjp.aten.batch_norm.default(cudnn_enabled true, eps 0.5, gradients [g], input a, momentum 0.1, "
            "of 'input', training true): 2x3x4xf32\na: %0");
}

} // namespace
