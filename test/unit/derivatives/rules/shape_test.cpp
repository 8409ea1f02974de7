//===- shape_test.cpp - derivatives of moved elements ---------------------===//

#include "../derive.h"

using namespace meshplan;

namespace {

using ShapeDerivatives = DeriveTest;

TEST_F(ShapeDerivatives, TheSameElementsInTheOldShape) {
  EXPECT_EQ(derive("aten.view.default", "self = $0, size = [4, -1]", "4x2x3xf32 -> 4x6xf32"),
            "%0 = aten.reshape.default(self g, shape [4, 2, 3]): 4x2x3xf32\na: %0");
  EXPECT_EQ(derive("aten.unsqueeze.default", "self = $0, dim = -1", "4xf32 -> 4x1xf32"),
            "%0 = aten.reshape.default(self g, shape [4]): 4xf32\na: %0");
  EXPECT_EQ(derive("aten.squeeze.default", "self = $0", "1x1xf32 -> f32"),
            "%0 = aten.reshape.default(self g, shape [1, 1]): 1x1xf32\na: %0");
}

TEST_F(ShapeDerivatives, WhatStoodForManyIsSummed) {
  EXPECT_EQ(derive("aten.expand.default", "self = $0, size = [2, 4, 6]", "4x1xf32 -> 2x4x6xf32"),
            "%0 = aten.sum.dim_IntList(dim [0], keepdim false, self g): 4x6xf32\n"
            "%1 = aten.sum.dim_IntList(dim [1], keepdim true, self %0): 4x1xf32\na: %1");
}

TEST_F(ShapeDerivatives, DimsGoBack) {
  EXPECT_EQ(derive("aten.permute.default", "self = $0, dims = [2, 0, -2]", "4x6x2xf32 -> 2x4x6xf32"),
            "%0 = aten.permute.default(dims [1, 2, 0], self g): 4x6x2xf32\na: %0");
  EXPECT_EQ(derive("aten.transpose.int", "self = $0, dim0 = -1, dim1 = 0", "4x6x2xf32 -> 2x6x4xf32"),
            "%0 = aten.permute.default(dims [2, 1, 0], self g): 4x6x2xf32\na: %0");
  EXPECT_EQ(derive("aten.transpose.int", "self = $0, dim0 = 0, dim1 = -1", "4xf32 -> 4xf32"), "a: g");
  EXPECT_EQ(derive("aten.t.default", "self = $0", "4x6xf32 -> 6x4xf32"),
            "%0 = aten.permute.default(dims [1, 0], self g): 4x6xf32\na: %0");
  EXPECT_EQ(derive("aten.t.default", "self = $0", "4xf32 -> 4xf32"), "a: g");
  EXPECT_EQ(derive("aten.numpy_T.default", "self = $0", "4x6x2xf32 -> 2x6x4xf32"),
            "%0 = aten.permute.default(dims [2, 1, 0], self g): 4x6x2xf32\na: %0");
}

/// Copies of a repeat follow one another, those of an interleaved one are next to each element.
TEST_F(ShapeDerivatives, CopiesAreSummed) {
  EXPECT_EQ(derive("aten.repeat.default", "self = $0, repeats = [3, 1, 2]", "4x6xf32 -> 3x4x12xf32"),
            "%0 = aten.reshape.default(self g, shape [3, 1, 4, 2, 6]): 3x1x4x2x6xf32\n"
            "%1 = aten.sum.dim_IntList(dim [0, 3], keepdim false, self %0): 1x4x6xf32\n"
            "%2 = aten.reshape.default(self %1, shape [4, 6]): 4x6xf32\na: %2");
  EXPECT_EQ(derive("aten.repeat_interleave.self_int", "self = $0, repeats = 3, dim = -2", "4x6xf32 -> 12x6xf32"),
            "%0 = aten.reshape.default(self g, shape [4, 3, 6]): 4x3x6xf32\n"
            "%1 = aten.sum.dim_IntList(dim [1], keepdim false, self %0): 4x6xf32\na: %1");
  EXPECT_EQ(derive("aten.repeat_interleave.self_int", "self = $0, repeats = 3", "4xf32 -> 12xf32"),
            "%0 = vjp.aten.repeat_interleave.self_int(gradients [g], of 'self', repeats 3, self a): 4xf32\na: %0")
      << "without a dim";
}

TEST_F(ShapeDerivatives, PlacesGoBack) {
  EXPECT_EQ(derive("aten.flip.default", "self = $0, dims = [0, -1]", "4x6xf32 -> 4x6xf32"),
            "%0 = aten.flip.default(dims [0, -1], self g): 4x6xf32\na: %0");
  EXPECT_EQ(derive("aten.roll.default", "self = $0, shifts = [2, -1], dims = [0, 1]", "4x6xf32 -> 4x6xf32"),
            "%0 = aten.roll.default(dims [0, 1], self g, shifts [-2, 1]): 4x6xf32\na: %0");
  EXPECT_EQ(derive("aten.roll.default", "self = $0, shifts = [2]", "4x6xf32 -> 4x6xf32"),
            "%0 = aten.roll.default(self g, shifts [-2]): 4x6xf32\na: %0");
}

} // namespace
