//===- slicing_test.cpp - derivatives of slices and padding ---------------===//

#include "../derive.h"

using namespace meshplan;

namespace {

using SlicingDerivatives = DeriveTest;

TEST_F(SlicingDerivatives, ASliceIsPaddedWithZeros) {
  auto slice = [&](const char *args, const char *types) {
    return derive("aten.slice.Tensor", std::string("self = $0, ") + args, types);
  };
  EXPECT_EQ(slice("dim = 0, start = 1, end = 3", "4x6xf32 -> 2x6xf32"),
            "%0 = aten.constant_pad_nd.default(pad [0, 0, 1, 1], self g, value 0): 4x6xf32\na: %0");
  EXPECT_EQ(slice("dim = -1, start = -2", "4x6xf32 -> 4x2xf32"),
            "%0 = aten.constant_pad_nd.default(pad [4, 0], self g, value 0): 4x6xf32\na: %0");
  EXPECT_EQ(slice("dim = 1, end = 9223372036854775807", "4x6xf32 -> 4x6xf32"), "a: g") << "all of it";
  EXPECT_EQ(slice("dim = 1, start = -100, end = 2", "4x6xf32 -> 4x2xf32"),
            "%0 = aten.constant_pad_nd.default(pad [0, 4], self g, value 0): 4x6xf32\na: %0");
  EXPECT_EQ(slice("dim = 1, start = 7", "4x6xf32 -> 4x0xf32"),
            "%0 = aten.constant_pad_nd.default(pad [6, 0], self g, value 0): 4x6xf32\na: %0")
      << "nothing of it";
}

TEST_F(SlicingDerivatives, WhatASliceHasStepsOverIsFilledWithZeros) {
  auto slice = [&](const char *args, const char *types) {
    return derive("aten.slice.Tensor", std::string("self = $0, ") + args, types);
  };
  EXPECT_EQ(slice("dim = 1, step = 2", "4x6xf32 -> 4x3xf32"),
            "%0 = aten.reshape.default(self g, shape [4, 3, 1]): 4x3x1xf32\n"
            "%1 = aten.constant_pad_nd.default(pad [0, 1], self %0, value 0): 4x3x2xf32\n"
            "%2 = aten.reshape.default(self %1, shape [4, 6]): 4x6xf32\na: %2");
  EXPECT_EQ(slice("dim = 1, start = 1, step = 2", "4x6xf32 -> 4x3xf32"),
            "%0 = aten.reshape.default(self g, shape [4, 3, 1]): 4x3x1xf32\n"
            "%1 = aten.constant_pad_nd.default(pad [1, 0], self %0, value 0): 4x3x2xf32\n"
            "%2 = aten.reshape.default(self %1, shape [4, 6]): 4x6xf32\na: %2");
  EXPECT_EQ(slice("dim = 1, start = 3, step = 2", "4x6xf32 -> 4x2xf32"),
            "%0 = aten.reshape.default(self g, shape [4, 2, 1]): 4x2x1xf32\n"
            "%1 = aten.constant_pad_nd.default(pad [0, 1], self %0, value 0): 4x2x2xf32\n"
            "%2 = aten.reshape.default(self %1, shape [4, 4]): 4x4xf32\n"
            "%3 = aten.constant_pad_nd.default(pad [3, -1], self %2, value 0): 4x6xf32\na: %3");
  EXPECT_EQ(slice("dim = 0, start = -3, step = 9223372036854775807", "4x6xf32 -> 1x6xf32"),
            "%0 = aten.reshape.default(self g, shape [1, 1, 6]): 1x1x6xf32\n"
            "%1 = aten.constant_pad_nd.default(pad [0, 0, 1, 2], self %0, value 0): 1x4x6xf32\n"
            "%2 = aten.reshape.default(self %1, shape [4, 6]): 4x6xf32\na: %2");
}

TEST_F(SlicingDerivatives, AnElementIsPaddedToo) {
  EXPECT_EQ(derive("aten.select.int", "self = $0, dim = 0, index = -1", "4x6xf32 -> 6xf32"),
            "%0 = aten.reshape.default(self g, shape [1, 6]): 1x6xf32\n"
            "%1 = aten.constant_pad_nd.default(pad [0, 0, 3, 0], self %0, value 0): 4x6xf32\na: %1");
  EXPECT_EQ(derive("aten.select.int", "self = $0, dim = -1, index = 1", "4x6xf32 -> 4xf32"),
            "%0 = aten.reshape.default(self g, shape [4, 1]): 4x1xf32\n"
            "%1 = aten.constant_pad_nd.default(pad [1, 4], self %0, value 0): 4x6xf32\na: %1");
}

TEST_F(SlicingDerivatives, AReplacementHasTheGradientOfItsPart) {
  EXPECT_EQ(derive("aten.slice_scatter.default", "self = $0, src = $1, dim = 1, start = 2, end = 6, step = 2",
                   "4x6xf32, 4x2xf32 -> 4x6xf32"),
            "%0 = aten.slice.Tensor(dim 1, end 6, self g, start 2, step 2): 4x2xf32\n"
            "%1 = aten.zeros_like.default(self b): 4x2xf32\n"
            "%2 = aten.slice_scatter.default(dim 1, end 6, self g, src %1, start 2, step 2): 4x6xf32\n"
            "b: %0\na: %2");
  EXPECT_EQ(
      derive("aten.select_scatter.default", "self = $0, src = $1, dim = 0, index = -1", "4x6xf32, 6xf32 -> 4x6xf32"),
      "%0 = aten.select.int(dim 0, index -1, self g): 6xf32\n"
      "%1 = aten.zeros_like.default(self b): 6xf32\n"
      "%2 = aten.select_scatter.default(dim 0, index -1, self g, src %1): 4x6xf32\n"
      "b: %0\na: %2");
}

TEST_F(SlicingDerivatives, ADiagonalThatWasMadeIsTaken) {
  EXPECT_EQ(derive("aten.diag_embed.default", "self = $0, offset = 1, dim1 = 0", "4x3xf32 -> 4x4x4xf32"),
            "%0 = aten.diagonal.default(dim1 0, dim2 -1, offset 1, self g): 4x3xf32\na: %0");
}

TEST_F(SlicingDerivatives, WhatWasAddedIsCutOff) {
  EXPECT_EQ(derive("aten.constant_pad_nd.default", "self = $0, pad = [1, -2, 0, 3], value = 2.0", "4x6xf32 -> 7x5xf32"),
            "%0 = aten.constant_pad_nd.default(pad [-1, 2, 0, -3], self g, value 0): 4x6xf32\na: %0");
  EXPECT_EQ(derive("aten.pad.default", "self = $0, pad = [1, 1], mode = \"reflect\"", "4x6xf32 -> 4x8xf32"),
            "%0 = vjp.aten.pad.default(gradients [g], mode 'reflect', of 'self', pad [1, 1], self a): 4x6xf32\na: %0");
}

TEST_F(SlicingDerivatives, ATriangleOfTheGradient) {
  EXPECT_EQ(derive("aten.tril.default", "self = $0, diagonal = -1", "4x6xf32 -> 4x6xf32"),
            "%0 = aten.tril.default(diagonal -1, self g): 4x6xf32\na: %0");
  EXPECT_EQ(derive("aten.triu.default", "self = $0", "4x6xf32 -> 4x6xf32"),
            "%0 = aten.triu.default(self g): 4x6xf32\na: %0");
}

} // namespace
