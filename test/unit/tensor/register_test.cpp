//===- register_test.cpp - copies with a derivative -----------------------===//

#include "test/unit/tensor/call_helper.h"

using namespace meshplan;

namespace {

at::Tensor copied(const at::Tensor &self, const at::Tensor &src) {
  return callNamed("meshplan.composed_copy", {{"self", self}, {"src", src}})[0];
}

} // namespace

TEST(CopyTest, IsThatOfPyTorch) {
  at::Tensor self = at::randn({2, 3}, at::kDouble);
  for (const at::Tensor &src :
       {at::randn({2, 3}), at::randn({3}), at::randn({2, 1}).to(at::kBFloat16), at::arange(3)}) {
    at::Tensor result = copied(self, src);
    EXPECT_TRUE(at::equal(result, at::copy(self, src)));
    EXPECT_EQ(result.scalar_type(), at::kDouble);
    EXPECT_TRUE(result.is_contiguous());
  }
  EXPECT_TRUE(at::equal(copied(at::zeros({2}, at::kLong), at::tensor({1.5, -2.5})), at::tensor({1, -2}, at::kLong)));
}

TEST(CopyTest, TheGradientIsThatOfTheSource) {
  at::Tensor self = at::randn({2, 3}, at::kDouble).requires_grad_(true), weight = at::randn({2, 3}, at::kDouble);
  at::Tensor src = at::randn({3}, at::kFloat).requires_grad_(true);
  (copied(self, src) * weight).sum().backward();
  EXPECT_TRUE(at::allclose(src.grad(), weight.sum(0).to(at::kFloat)));
  EXPECT_FALSE(self.grad().defined());
}
