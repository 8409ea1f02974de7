//===- autograd_test.cpp - gradients by LibTorch --------------------------===//

#include "runtime/tensor/autograd.h"

#include "runtime/tensor/compute_scope.h"
#include "test/unit/tensor/call_helper.h"

#include <ATen/Parallel.h>
#include <gmock/gmock.h>

using namespace meshplan;

/// sum(x * w) by calls of the dispatcher; the results of `read` of the product and its gradients.
static std::vector<Tensor> productGradients(const std::vector<Tensor> &leaves) {
  at::Tensor product = (unwrap(leaves[0]) * unwrap(leaves[1])).sum();
  auto gradients = gradientsOf(wrap(product), leaves);
  EXPECT_TRUE(gradients.ok()) << gradients.status().message();
  return *gradients;
}

TEST(AutogradTest, GradientsInsideOfAComputeScope) {
  ComputeScope compute(1);
  at::Tensor x = at::randn({3}), w = at::randn({3}), other = at::randn({2});
  AutogradScope scope(1, DType::f32);
  std::vector<Tensor> leaves;
  for (const at::Tensor &tensor : {x, w, other}) {
    auto leaf = differentiable(wrap(tensor));
    ASSERT_TRUE(leaf.ok());
    leaves.push_back(*leaf);
  }
  std::vector<Tensor> gradients = productGradients(leaves);
  EXPECT_TRUE(at::equal(unwrap(gradients[0]), w));
  EXPECT_TRUE(at::equal(unwrap(gradients[1]), x));
  EXPECT_FALSE(gradients[2].defined()) << "nothing depends on it";
}

// LibTorch returns a tensor without elements in memory.
TEST(AutogradTest, AGradientOfZerosHasElements) {
  AutogradScope scope(1, DType::f32);
  Tensor leaf = *differentiable(wrap(at::randn({3})));
  auto gradients = gradientsOf(wrap(unwrap(leaf).sgn().sum()), {&leaf, 1});
  ASSERT_TRUE(gradients.ok()) << gradients.status().message();
  const at::Tensor &gradient = unwrap((*gradients)[0]);
  ASSERT_NE(gradient.const_data_ptr(), nullptr);
  EXPECT_TRUE(at::equal(gradient, at::zeros({3})));
}

TEST(AutogradTest, TheScopeEnds) {
  ComputeScope compute(1);
  {
    AutogradScope scope(2, DType::f64);
    EXPECT_EQ(at::get_num_threads(), 2);
    EXPECT_EQ(at::ones({1}).scalar_type(), at::kDouble) << "what says no type";
    EXPECT_TRUE((unwrap(*differentiable(wrap(at::ones({1})))) * 2).requires_grad());
  }
  EXPECT_EQ(at::get_num_threads(), 1);
  EXPECT_EQ(at::ones({1}).scalar_type(), at::kFloat);
  EXPECT_FALSE((unwrap(*differentiable(wrap(at::ones({1})))) * 2).requires_grad());
}

TEST(AutogradTest, WhatNothingIsRecordedOf) {
  AutogradScope scope(1, DType::f32);
  Tensor leaf = *differentiable(wrap(at::ones({2})));
  auto gradients = gradientsOf(wrap(at::ones({})), {&leaf, 1});
  ASSERT_TRUE(gradients.ok());
  EXPECT_FALSE((*gradients)[0].defined());
  EXPECT_FALSE(unwrap(*detached(wrap(unwrap(leaf) * 2))).requires_grad());
}

TEST(AutogradTest, Refusals) {
  EXPECT_EQ(differentiable(wrap(at::ones({2}, at::kLong))).status().message(),
            "there is no gradient of a tensor of i64");
}
