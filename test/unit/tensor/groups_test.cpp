//===- groups_test.cpp - operators on groups of features ------------------===//

#include "test/unit/tensor/call_helper.h"

#include <gmock/gmock.h>

using namespace meshplan;

namespace {

Argument list(std::string name, std::vector<int64_t> numbers) { return {std::move(name), std::move(numbers)}; }

/// `whole` is the result for all groups; calls on halves of input, weight and bias, concatenated, must equal it.
void expectInHalves(const at::Tensor &input, const at::Tensor &weight, const at::Tensor &bias, const at::Tensor &whole,
                    const std::vector<Argument> &literals) {
  std::vector<at::Tensor> made;
  int64_t features = input.dim() + 1 - weight.dim();
  for (int64_t half : {0, 1}) {
    auto part = [&](const at::Tensor &tensor, int64_t dim) { return tensor.chunk(2, dim)[half]; };
    made.push_back(callNamed("meshplan.grouped_convolution",
                             {{"input", part(input, features)}, {"weight", part(weight, 0)}, {"bias", part(bias, 0)}},
                             literals)[0]);
  }
  EXPECT_TRUE(at::allclose(at::cat(made, features), whole, 1e-12, 1e-12));
}

} // namespace

TEST(GroupsTest, AConvolutionCountsItsGroups) {
  at::Tensor input = at::randn({2, 12, 9}, at::kDouble), weight = at::randn({8, 3, 4}, at::kDouble);
  at::Tensor bias = at::randn({8}, at::kDouble);
  std::vector<Argument> literals = {list("stride", {2}), list("padding", {1}), list("dilation", {1})};
  expectInHalves(input, weight, bias, at::conv1d(input, weight, bias, 2, 1, 1, 4), literals);
  expectInHalves(input[0], weight, bias, at::conv1d(input[0], weight, bias, 2, 1, 1, 4), literals);
}

TEST(GroupsTest, PaddingMayBeAWord) {
  at::Tensor input = at::randn({2, 4, 5, 6}, at::kDouble), weight = at::randn({6, 2, 2, 3}, at::kDouble);
  at::Tensor bias = at::randn({6}, at::kDouble);
  for (const char *word : {"same", "valid"})
    expectInHalves(input, weight, bias, at::conv2d(input, weight, bias, 1, word, 1, 2),
                   {list("stride", {1, 1}), list("dilation", {1, 1}), {"mode", std::string(word)}});
}

TEST(GroupsTest, ATransposedConvolutionIsToldTheInputsOfAGroup) {
  at::Tensor input = at::randn({2, 8, 3, 4}, at::kDouble), weight = at::randn({8, 3, 2, 3}, at::kDouble);
  at::Tensor bias = at::randn({12}, at::kDouble);
  expectInHalves(input, weight, bias, at::conv_transpose2d(input, weight, bias, {2, 3}, {0, 1}, {1, 2}, 4),
                 {list("stride", {2, 3}),
                  list("padding", {0, 1}),
                  list("dilation", {1, 1}),
                  {"transposed", true},
                  list("output_padding", {1, 2}),
                  {"group_inputs", int64_t(2)}});
}

TEST(GroupsTest, FeaturesThatAreNoWholeGroupsAreAnError) {
  at::Tensor input = at::zeros({2, 5, 9}), weight = at::zeros({4, 2, 3});
  EXPECT_THAT(failureOf("meshplan.grouped_convolution", {{"input", input}, {"weight", weight}},
                        {list("stride", {1}), list("padding", {0}), list("dilation", {1})}),
              testing::HasSubstr("5 features are not groups of 2"));
}

TEST(GroupsTest, ANormCountsItsGroups) {
  at::Tensor input = at::randn({3, 6, 5}, at::kDouble), weight = at::randn({6}, at::kDouble);
  at::Tensor bias = at::randn({6}, at::kDouble), whole = at::group_norm(input, 3, weight, bias, 1e-3);
  at::Tensor first =
      callNamed("meshplan.group_norm",
                {{"input", input.narrow(1, 0, 4)}, {"weight", weight.narrow(0, 0, 4)}, {"bias", bias.narrow(0, 0, 4)}},
                {{"group_features", int64_t(2)}, {"eps", 1e-3}})[0];
  EXPECT_TRUE(at::allclose(first, whole.narrow(1, 0, 4), 1e-12, 1e-12));
}
