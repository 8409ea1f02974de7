#include "runtime/tensor/torch/kernels/grouped_mm.h"
#include "test/unit/tensor/call_helper.h"

#include <gmock/gmock.h>

using namespace meshplan;

static at::Tensor callGroupedMm(const at::Tensor &input, const at::Tensor &weight, const at::Tensor &offs) {
  return callOperator("meshplan.grouped_mm", {input, weight, offs},
                      {value("input", 0), value("weight", 1), value("offs", 2)})[0];
}

TEST(GroupedMmTest, EachGroupHasItsOwnMatrix) {
  at::Tensor input = at::randn({7, 3}, at::kDouble), weight = at::randn({4, 5, 3}, at::kDouble).transpose(1, 2);
  at::Tensor result = callGroupedMm(input, weight, at::tensor({2, 2, 5, 6}, at::kInt));
  at::Tensor expected = at::cat({input.narrow(0, 0, 2).mm(weight[0]), input.narrow(0, 2, 3).mm(weight[2]),
                                 input.narrow(0, 5, 1).mm(weight[3]), at::zeros({1, 5}, at::kDouble)});
  EXPECT_LT(difference(result, expected), 1e-14);
}

TEST(GroupedMmTest, TheComposedOneHasAGradient) {
  at::Tensor input = at::randn({7, 3}, at::kDouble), weight = at::randn({4, 3, 5}, at::kDouble).requires_grad_();
  at::Tensor offs = at::tensor({2, 2, 5, 6}, at::kInt);
  at::Tensor result = composedGroupedMm(input, weight, offs);
  EXPECT_LT(difference(result.detach(), callGroupedMm(input, weight.detach(), offs)), 1e-14);
  result.sum().backward();
  EXPECT_LT(difference(weight.grad()[2], input.narrow(0, 2, 3).sum(0).unsqueeze(1).expand({3, 5})), 1e-14);
  EXPECT_EQ(weight.grad()[1].abs().max().item<double>(), 0) << "a group without rows";
}

TEST(GroupedMmTest, NoRows) {
  EXPECT_EQ(callGroupedMm(at::zeros({0, 3}), at::zeros({2, 3, 4}), at::tensor({0, 0}, at::kInt)).sizes(),
            (at::IntArrayRef{0, 4}));
}

TEST(GroupedMmTest, Refusals) {
  auto failure = [](const at::Tensor &weight, const at::Tensor &offs) {
    std::vector<Argument> arguments{value("input", 0), value("weight", 1), value("offs", 2)};
    std::vector<int> results{3};
    auto callGroupedMm = prepareCall("meshplan.grouped_mm", arguments, results);
    EXPECT_TRUE(callGroupedMm.ok());
    std::vector<Tensor> values{wrap(at::zeros({4, 3})), wrap(at::Tensor(weight)), wrap(at::Tensor(offs)), Tensor()};
    return (*callGroupedMm)->run(values).message();
  };
  EXPECT_THAT(failure(at::zeros({2, 5, 3}), at::tensor({1, 4})), testing::HasSubstr("do not match"));
  EXPECT_THAT(failure(at::zeros({2, 3, 5}), at::tensor({3, 2})),
              testing::HasSubstr("offs of group 1 is 2, which is not within 3 and 4"));
  EXPECT_THAT(failure(at::zeros({2, 3, 5}), at::tensor({3, 5})), testing::HasSubstr("is 5, which is not within"));
}

/// Compared with autograd of the products, group by group; a group without rows has zeros.
TEST(GroupedMmTest, TheGradientOfTheMatrices) {
  at::Tensor input = at::randn({7, 3}, at::kDouble), weight = at::randn({4, 3, 5}, at::kDouble);
  at::Tensor gradient = at::randn({7, 5}, at::kDouble), offs = at::tensor({2, 2, 5, 6}, at::kInt);
  at::Tensor made = callOperator("meshplan.grouped_weight_gradient", {input, gradient, offs},
                                 {value("left", 0), value("right", 1), value("offs", 2)})[0];
  weight.requires_grad_();
  at::Tensor result = at::cat(
      {input.narrow(0, 0, 2).mm(weight[0]), input.narrow(0, 2, 3).mm(weight[2]), input.narrow(0, 5, 1).mm(weight[3])});
  result.backward(gradient.narrow(0, 0, 6));
  EXPECT_LT(difference(made, weight.grad()), 1e-14);
}
