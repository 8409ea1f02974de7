#include "test/unit/tensor/call_helper.h"

using namespace meshplan;

/// Sums the addends of `self`, sharded over its last dim.
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

TEST(MeanTest, OtherElementTypesOnRequest) {
  at::Tensor integers = at::randint(-50, 50, {4, 9}, at::kLong);
  at::Tensor mean = sumOfAddends(integers, {{"dim", std::vector<int64_t>{1}}, {"dtype", DType::f64}}, 9);
  EXPECT_EQ(mean.scalar_type(), at::kDouble);
  EXPECT_LT(difference(mean, integers.mean(at::IntArrayRef({1}), false, at::kDouble)), 1e-14);
  at::Tensor halves = at::randn({4, 9}).to(at::kBFloat16);
  mean = sumOfAddends(halves, {{"dim", std::vector<int64_t>{1}}, {"dtype", DType::f32}}, 9);
  EXPECT_EQ(mean.scalar_type(), at::kFloat);
  EXPECT_LT(difference(mean, halves.to(at::kDouble).mean(1)), 1e-6);
}

TEST(MeanTest, NoDimsAreAllDims) {
  at::Tensor self = at::randn({3, 6}, at::kDouble);
  for (bool keepdim : {false, true}) {
    at::Tensor all = sumOfAddends(self, {{"dim", std::vector<int64_t>{}}, {"keepdim", keepdim}}, 18);
    EXPECT_EQ(all.dim(), keepdim ? 2 : 0);
    EXPECT_LT(difference(all.reshape({}), self.mean()), 1e-14);
  }
}

TEST(MeanTest, IntegersHaveNoMeanOfTheirOwn) {
  std::vector<Argument> arguments = {value("self", 0), {"count", int64_t(2)}};
  auto call = prepareCall("meshplan.mean_addend", arguments, {1});
  ASSERT_TRUE(call.ok());
  for (auto [type, name] : {std::pair(at::kLong, "Long"), std::pair(at::kBool, "Bool")}) {
    std::vector<Tensor> values = {wrap(at::ones({2}, type)), Tensor()};
    EXPECT_EQ((*call)->run(values).message(), std::string("the mean of ") + name + " is not a number of that type");
  }
}
