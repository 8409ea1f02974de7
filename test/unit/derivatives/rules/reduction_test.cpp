//===- reduction_test.cpp - derivatives of reductions ---------------------===//

#include "../derive.h"

using namespace meshplan;

namespace {

using ReductionDerivatives = DeriveTest;

TEST_F(ReductionDerivatives, EveryAddendGetsTheGradientOfTheSum) {
  EXPECT_EQ(derive("aten.sum.default", "self = $0", "4x6xf32 -> f32"),
            "%0 = aten.reshape.default(self g, shape [1, 1]): 1x1xf32\n"
            "%1 = aten.expand.default(self %0, size [4, 6]): 4x6xf32\na: %1");
  EXPECT_EQ(derive("aten.sum.dim_IntList", "self = $0, dim = [-1]", "4x6xf32 -> 4xf32"),
            "%0 = aten.reshape.default(self g, shape [4, 1]): 4x1xf32\n"
            "%1 = aten.expand.default(self %0, size [4, 6]): 4x6xf32\na: %1");
  EXPECT_EQ(derive("aten.sum.dim_IntList", "self = $0, dim = [0], keepdim = true", "4x6xf32 -> 1x6xf32"),
            "%0 = aten.expand.default(self g, size [4, 6]): 4x6xf32\na: %0");
  EXPECT_EQ(derive("aten.sum.dim_IntList", "self = $0, dim = []", "4x6xf32 -> f32"),
            "%0 = aten.reshape.default(self g, shape [1, 1]): 1x1xf32\n"
            "%1 = aten.expand.default(self %0, size [4, 6]): 4x6xf32\na: %1")
      << "no dims are all";
  EXPECT_EQ(derive("aten.sum.dim_IntList", "self = $0, dim = [0]", "f32 -> f32"), "a: g") << "a number is its sum";
  EXPECT_EQ(derive("aten.sum.dim_IntList", "self = $0, dim = [1], dtype = f32", "4x1xbf16 -> 4xf32"),
            "%0 = aten.reshape.default(self g, shape [4, 1]): 4x1xf32\n"
            "%1 = aten.to.dtype(dtype bf16, self %0): 4x1xbf16\na: %1");
}

TEST_F(ReductionDerivatives, AMeanDividesByTheNumber) {
  EXPECT_EQ(derive("aten.mean.dim", "self = $0, dim = [0, 2]", "4x6x2xf32 -> 6xf32"),
            "%0 = aten.reshape.default(self g, shape [1, 6, 1]): 1x6x1xf32\n"
            "%1 = aten.div.Scalar(other 8, self %0): 1x6x1xf32\n"
            "%2 = aten.expand.default(self %1, size [4, 6, 2]): 4x6x2xf32\na: %2");
  EXPECT_EQ(derive("aten.mean.default", "self = $0", "f32 -> f32"),
            "%0 = aten.div.Scalar(other 1, self g): f32\na: %0");
}

TEST_F(ReductionDerivatives, EqualExtremesShareTheGradient) {
  EXPECT_EQ(derive("aten.amax.default", "self = $0, dim = [1]", "4x6xf32 -> 4xf32"),
            "%0 = aten.reshape.default(self r, shape [4, 1]): 4x1xf32\n"
            "%1 = aten.eq.Tensor(other %0, self a): 4x6xi1\n"
            "%2 = aten.to.dtype(dtype f32, self %1): 4x6xf32\n"
            "%3 = aten.reshape.default(self g, shape [4, 1]): 4x1xf32\n"
            "%4 = aten.sum.dim_IntList(dim [1], keepdim true, self %2): 4x1xf32\n"
            "%5 = aten.div.Tensor(other %4, self %3): 4x1xf32\n"
            "%6 = aten.mul.Tensor(other %5, self %2): 4x6xf32\na: %6");
}

TEST_F(ReductionDerivatives, SharesOfTheLogarithmOfASum) {
  EXPECT_EQ(derive("aten.logsumexp.default", "self = $0, dim = [1], keepdim = true", "4x6xf32 -> 4x1xf32"),
            "%0 = aten.sub.Tensor(other r, self a): 4x6xf32\n"
            "%1 = aten.exp.default(self %0): 4x6xf32\n"
            "%2 = aten.mul.Tensor(other %1, self g): 4x6xf32\na: %2");
}

TEST_F(ReductionDerivatives, AVarianceChangesByTheDistanceFromTheMean) {
  EXPECT_EQ(derive("aten.var.correction", "self = $0, dim = [1], correction = 0, keepdim = true", "4x8xf32 -> 4x1xf32"),
            "%0 = aten.sum.dim_IntList(dim [1], keepdim true, self a): 4x1xf32\n"
            "%1 = aten.div.Scalar(other 8, self %0): 4x1xf32\n"
            "%2 = aten.sub.Tensor(other %1, self a): 4x8xf32\n"
            "%3 = aten.mul.Scalar(other 0.25, self %2): 4x8xf32\n"
            "%4 = aten.mul.Tensor(other %3, self g): 4x8xf32\na: %4");
  EXPECT_EQ(derive("aten.std.correction", "self = $0, dim = [0]", "5x4xf32 -> 4xf32"),
            "%0 = aten.div.Tensor(other r, self g): 4xf32\n"
            "%1 = aten.eq.Scalar(other 0, self r): 4xi1\n"
            "%2 = aten.masked_fill.Scalar(mask %1, self %0, value 0): 4xf32\n"
            "%3 = aten.reshape.default(self %2, shape [1, 4]): 1x4xf32\n"
            "%4 = aten.sum.dim_IntList(dim [0], keepdim true, self a): 1x4xf32\n"
            "%5 = aten.div.Scalar(other 5, self %4): 1x4xf32\n"
            "%6 = aten.sub.Tensor(other %5, self a): 5x4xf32\n"
            "%7 = aten.mul.Scalar(other 0.25, self %6): 5x4xf32\n"
            "%8 = aten.mul.Tensor(other %7, self %3): 5x4xf32\na: %8")
      << "over the number less one; none at a deviation of zero";
  EXPECT_EQ(derive("aten.var_mean.correction", "self = $0, dim = [1], correction = 0, keepdim = true",
                   "4x8xf32 -> 4x1xf32, 4x1xf32"),
            "%0 = aten.div.Scalar(other 8, self g1): 4x1xf32\n"
            "%1 = aten.expand.default(self %0, size [4, 8]): 4x8xf32\n"
            "%2 = aten.sum.dim_IntList(dim [1], keepdim true, self a): 4x1xf32\n"
            "%3 = aten.div.Scalar(other 8, self %2): 4x1xf32\n"
            "%4 = aten.sub.Tensor(other %3, self a): 4x8xf32\n"
            "%5 = aten.mul.Scalar(other 0.25, self %4): 4x8xf32\n"
            "%6 = aten.mul.Tensor(other %5, self g0): 4x8xf32\n"
            "%7 = aten.add.Tensor(other %6, self %1): 4x8xf32\na: %7")
      << "and the mean by as much for all";
  EXPECT_EQ(derive("aten.var.correction", "self = $0, dim = [1]", "4x1xf32 -> 4xf32"),
            "%0 = vjp.aten.var.correction(dim [1], gradients [g], of 'self', self a): 4x1xf32\na: %0")
      << "a variance of one number is NaN";
}

TEST_F(ReductionDerivatives, RunningSumsAreSummedFromBehind) {
  EXPECT_EQ(derive("aten.cumsum.default", "self = $0, dim = -1", "4x6xf32 -> 4x6xf32"),
            "%0 = aten.flip.default(dims [1], self g): 4x6xf32\n"
            "%1 = aten.cumsum.default(dim 1, self %0): 4x6xf32\n"
            "%2 = aten.flip.default(dims [1], self %1): 4x6xf32\na: %2");
  EXPECT_EQ(derive("aten.cumsum.default", "self = $0, dim = 0", "f32 -> f32"), "a: g");
}

TEST_F(ReductionDerivatives, PlacesAndCountsHaveNone) {
  EXPECT_EQ(derive("aten.argmax.default", "self = $0, dim = 1", "4x6xf32 -> 4xi64"), "nothing");
}

} // namespace
