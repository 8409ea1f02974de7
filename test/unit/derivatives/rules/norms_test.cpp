//===- norms_test.cpp - derivatives of norms of vectors -------------------===//
//
// test/harness/runs/gradients.py (over_vocabulary) compares the gradients with PyTorch's; here the tests check the
// calls, and where the runtime computes the derivative.
//
//===----------------------------------------------------------------------===//

#include "../derive.h"

#include <gmock/gmock.h>

using namespace meshplan;

namespace {

using NormDerivatives = DeriveTest;

TEST_F(NormDerivatives, OfATwoNormTheUnitVector) {
  EXPECT_EQ(
      derive("aten.linalg_vector_norm.default", "self = $0, ord = 2, dim = [1], keepdim = true", "4x6xf32 -> 4x1xf32"),
      "%0 = aten.div.Tensor(other r, self g): 4x1xf32\n"
      "%1 = aten.eq.Scalar(other 0, self r): 4x1xi1\n"
      "%2 = aten.masked_fill.Scalar(mask %1, self %0, value 0): 4x1xf32\n"
      "%3 = aten.mul.Tensor(other %2, self a): 4x6xf32\na: %3");
}

TEST_F(NormDerivatives, OfAOneNormTheSigns) {
  EXPECT_EQ(derive("aten.norm.ScalarOpt_dim", "self = $0, p = 1, dim = [-1], keepdim = true", "4x6xf32 -> 4x1xf32"),
            "%0 = aten.sgn.default(self a): 4x6xf32\n"
            "%1 = aten.mul.Tensor(other g, self %0): 4x6xf32\na: %1");
}

TEST_F(NormDerivatives, NormsOfMatricesAreLeftToTheRuntime) {
  EXPECT_THAT(derive("aten.linalg_norm.default", "self = $0, ord = 1, dim = [0, 1]", "4x6xf32 -> f32"),
              testing::HasSubstr("vjp.aten.linalg_norm.default"));
  EXPECT_THAT(derive("aten.linalg_norm.default", "self = $0", "4x6xf32 -> f32"),
              testing::Not(testing::HasSubstr("vjp.")));
}

TEST_F(NormDerivatives, VectorsThatAreBroadcastAlongTheirDimAreLeftToTheRuntime) {
  EXPECT_THAT(derive("aten.cosine_similarity.default", "x1 = $0, x2 = $1, dim = 1", "4x6xf32, 4x1xf32 -> 4xf32"),
              testing::HasSubstr("vjp.aten.cosine_similarity.default"));
  EXPECT_THAT(derive("aten.pairwise_distance.default", "x1 = $0, x2 = $1", "4x6xf32, 6xf32 -> 4xf32"),
              testing::HasSubstr("vjp.aten.pairwise_distance.default"));
}

} // namespace
