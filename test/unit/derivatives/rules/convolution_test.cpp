//===- convolution_test.cpp - derivatives of convolutions -----------------===//

#include "../derive.h"

using namespace meshplan;

namespace {

using ConvolutionDerivatives = DeriveTest;

constexpr char args[] = "input = $0, weight = $1, bias = $2";

TEST_F(ConvolutionDerivatives, EachOperandHasACallOfItsOwn) {
  EXPECT_EQ(derive("aten.conv2d.default", (llvm::Twine(args) + ", stride = [2, 1], padding = [1, 0], groups = 2").str(),
                   "3x4x8x9xf32, 6x2x3x3xf32, 6xf32 -> 3x6x4x7xf32"),
            "%0 = meshplan.convolution_input_gradient(dilation [1, 1], gradient g, input a, padding [1, 0], "
            "stride [2, 1], weight b): 3x4x8x9xf32\n"
            "%1 = meshplan.convolution_weight_gradient(dilation [1, 1], gradient g, input a, padding [1, 0], "
            "stride [2, 1], weight b): 6x2x3x3xf32\n"
            "%2 = aten.sum.dim_IntList(dim [0, 2, 3], keepdim false, self g): 6xf32\na: %0\nb: %1\nc: %2");
}

TEST_F(ConvolutionDerivatives, OneNumberIsThatOfEveryDim) {
  EXPECT_EQ(deriveOnly({1}, "aten.convolution.default",
                       "input = $0, weight = $1, stride = [2], padding = 1, dilation = [1], transposed = false, "
                       "output_padding = [0], groups = 1",
                       "3x4x8x9xf32, 6x4x3x3xf32 -> 3x6x4x5xf32"),
            "%0 = meshplan.convolution_weight_gradient(dilation [1, 1], gradient g, input a, padding [1, 1], "
            "stride [2, 2], weight b): 6x4x3x3xf32\nb: %0");
}

TEST_F(ConvolutionDerivatives, OtherFormsAreLeftToTheRuntime) {
  EXPECT_EQ(deriveOnly({0}, "aten.conv1d.default", "input = $0, weight = $1", "4x8xf32, 6x4x3xf32 -> 6x6xf32"),
            "%0 = vjp.aten.conv1d.default(gradients [g], input a, of 'input', weight b): 4x8xf32\na: %0")
      << "one sample";
  EXPECT_EQ(deriveOnly({1}, "aten.convolution.default",
                       "input = $0, weight = $1, stride = [1], padding = [0], dilation = [1], transposed = true, "
                       "output_padding = [0], groups = 1",
                       "2x4x8xf32, 4x6x3xf32 -> 2x6x10xf32"),
            "%0 = vjp.aten.convolution.default(dilation [1], gradients [g], groups 1, input a, of 'weight', "
            "output_padding [0], padding [0], stride [1], transposed true, weight b): 4x6x3xf32\nb: %0")
      << "transposed";
  EXPECT_EQ(
      deriveOnly({0}, "aten.conv1d.padding", "input = $0, weight = $1, padding = \"same\"",
                 "2x4x8xf32, 6x4x4xf32 -> 2x6x8xf32"),
      "%0 = vjp.aten.conv1d.padding(gradients [g], input a, of 'input', padding 'same', weight b): 2x4x8xf32\na: %0")
      << "ends that are padded in two ways";
}

TEST_F(ConvolutionDerivatives, PaddingInWords) {
  auto derived = [&](llvm::StringRef word, llvm::StringRef types) {
    return deriveOnly({0}, "aten.conv2d.padding",
                      ("input = $0, weight = $1, dilation = [1, 2], padding = \"" + word + "\"").str(), types);
  };
  EXPECT_EQ(derived("same", "2x4x8x9xf32, 6x4x3x5xf32 -> 2x6x8x9xf32"),
            "%0 = meshplan.convolution_input_gradient(dilation [1, 2], gradient g, input a, padding [1, 4], "
            "stride [1, 1], weight b): 2x4x8x9xf32\na: %0");
  EXPECT_EQ(derived("valid", "2x4x8x9xf32, 6x4x3x4xf32 -> 2x6x6x3xf32"),
            "%0 = meshplan.convolution_input_gradient(dilation [1, 2], gradient g, input a, padding [0, 0], "
            "stride [1, 1], weight b): 2x4x8x9xf32\na: %0");
}

} // namespace
