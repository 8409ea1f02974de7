//===- first_step_test.cpp - first steps, computed by hand ----------------===//

#include "runtime/tensor/optimizer.h"

#include "runtime/tensor/compute_scope.h"
#include "test/unit/tensor/call_helper.h"

#include <gmock/gmock.h>

using namespace meshplan;

/// The parameter 2 after a step with the gradient 0.5 and `factor`.
static double stepOf(const OptimizerNumbers &numbers, double factor = 1, DType dtype = DType::f64) {
  ComputeScope compute(1);
  at::Tensor parameter = at::full({2}, 2, at::kDouble), gradient = at::full({2}, 0.5, at::kDouble);
  auto changed = firstStep(numbers, wrap(parameter), wrap(gradient), factor, dtype);
  EXPECT_TRUE(changed.ok()) << changed.status().message();
  EXPECT_EQ(changed->dtype(), dtype);
  EXPECT_TRUE(at::equal(parameter, at::full({2}, 2, at::kDouble))) << "the parameter itself stays";
  EXPECT_TRUE(at::equal(gradient, at::full({2}, 0.5, at::kDouble)));
  return unwrap(*changed)[0].item<double>();
}

TEST(FirstStepTest, Sgd) {
  EXPECT_DOUBLE_EQ(stepOf({.rate = 0.1}), 1.95);
  EXPECT_DOUBLE_EQ(stepOf({.rate = 0.1}, 0.5), 1.975);
  EXPECT_DOUBLE_EQ(stepOf({.rate = 0.1, .weightDecay = 0.25}), 1.9) << "0.5 + 0.25 * 2";
  EXPECT_DOUBLE_EQ(stepOf({.rate = 0.1, .momentum = 0.5, .dampening = 0.9}), 1.95)
      << "the first buffer is the gradient";
  EXPECT_DOUBLE_EQ(stepOf({.rate = 0.1, .momentum = 0.5, .nesterov = true}), 1.925) << "0.5 + 0.5 * 0.5";
}

TEST(FirstStepTest, Adam) {
  OptimizerNumbers numbers{.kind = OptimizerKind::adam, .rate = 0.1, .beta1 = 0.9, .beta2 = 0.99, .eps = 0.5};
  EXPECT_NEAR(stepOf(numbers), 2 - 0.1 * 0.5 / (0.5 + 0.5), 1e-15);
  numbers.weightDecay = 0.25;
  EXPECT_NEAR(stepOf(numbers), 2 - 0.1 * 1 / (1 + 0.5), 1e-15) << "decay is part of the gradient";
  numbers.kind = OptimizerKind::adamw;
  EXPECT_NEAR(stepOf(numbers), 2 - 0.1 * 0.25 * 2 - 0.1 * 0.5 / (0.5 + 0.5), 1e-15);
}

TEST(FirstStepTest, InThePrecisionOfTheParameter) {
  EXPECT_EQ(stepOf({.rate = 0.1}, 1, DType::f32), static_cast<double>(1.95f));
  EXPECT_EQ(stepOf({.rate = 0.001}, 1, DType::bf16), 2) << "no number is between";
}

TEST(FirstStepTest, Clipping) {
  EXPECT_DOUBLE_EQ(clippingFactor(4, 2), 0.49999987500003125) << "as torch.nn.utils.clip_grad_norm_ has it";
  EXPECT_EQ(clippingFactor(1, 2), 1);
}
