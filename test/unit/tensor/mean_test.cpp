#include "test/unit/tensor/call_helper.h"

using namespace meshplan;

/// The addends of `self` dealt over its last dim.
static at::Tensor sumOfAddends(const at::Tensor &self, std::vector<Argument> arguments, int64_t count) {
  arguments.push_back(value("self", 0));
  arguments.push_back({"count", count});
  at::Tensor sum;
  for (const at::Tensor &piece : self.tensor_split(3, -1)) {
    at::Tensor addend = callOperator("meshplan.mean_addend", {piece}, arguments)[0];
    sum = sum.defined() ? sum + addend : addend;
  }
  return sum;
}

TEST(MeanTest, AddendsAddUpToTheMean) {
  at::Tensor self = at::randn({2, 5, 7}, at::kDouble);
  EXPECT_LT(difference(sumOfAddends(self, {{"dim", std::vector<int64_t>{-1}}, {"keepdim", true}}, 7),
                       self.mean(at::IntArrayRef({-1}), /*keepdim=*/true)),
            1e-14);
  EXPECT_LT(
      difference(sumOfAddends(self, {{"dim", std::vector<int64_t>{0, 2}}}, 14), self.mean(at::IntArrayRef({0, 2}))),
      1e-14);
  EXPECT_LT(difference(sumOfAddends(self, {}, 70), self.mean()), 1e-14);
}

TEST(MeanTest, ShardsWithoutElements) {
  at::Tensor self = at::randn({3, 2}, at::kDouble);
  EXPECT_LT(difference(sumOfAddends(self, {{"dim", std::vector<int64_t>{1}}}, 2), self.mean(at::IntArrayRef({1}))),
            1e-14);
}

TEST(MeanTest, HalfTypesAddInFloat) {
  at::Tensor self = at::full({1, 6000}, 1.0, at::kBFloat16);
  at::Tensor mean = sumOfAddends(self, {{"dim", std::vector<int64_t>{1}}}, 6000);
  EXPECT_EQ(mean.scalar_type(), at::kBFloat16);
  EXPECT_LT(difference(mean, at::ones({1})), 0.01);
}
