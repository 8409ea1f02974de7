#include "test/unit/tensor/call_helper.h"

using namespace meshplan;

namespace {

at::Tensor scatterSum(const at::Tensor &source, const at::Tensor &index, int64_t dim, std::vector<int64_t> size) {
  return callNamed("meshplan.scatter_sum", {{"source", source}, {"index", index}},
                   {{"dim", dim}, {"size", std::move(size)}})[0];
}

at::Tensor indexSum(const at::Tensor &source, const std::vector<at::Tensor> &indices, std::vector<int64_t> size) {
  std::vector<at::Tensor> tensors = {source};
  ValueListArgument list;
  for (const at::Tensor &index : indices) {
    list.values.push_back(index.defined() ? static_cast<int>(tensors.size()) : -1);
    if (index.defined())
      tensors.push_back(index);
  }
  return callOperator("meshplan.index_sum", tensors,
                      {value("source", 0), {"indices", list}, {"size", std::move(size)}})[0];
}

/// The gradient of `self` by autograd, through the elements that `read` selects.
template <typename Read> at::Tensor expectedSum(at::IntArrayRef size, const at::Tensor &gradient, const Read &read) {
  at::Tensor self = at::zeros(size, at::kDouble).requires_grad_(true);
  read(self).backward(gradient);
  return self.grad();
}

} // namespace

TEST(ScatterSumTest, IsTheGradientOfGather) {
  at::Tensor index = at::randint(3, {5, 4}, at::kLong), gradient = at::randn({5, 4}, at::kDouble);
  EXPECT_TRUE(at::equal(scatterSum(gradient, index, 0, {3, 4}),
                        expectedSum({3, 4}, gradient, [&](const at::Tensor &self) { return self.gather(0, index); })));
  // The index covers only a part of the other dim.
  EXPECT_TRUE(at::equal(scatterSum(gradient, index, -1, {7, 3}),
                        expectedSum({7, 3}, gradient, [&](const at::Tensor &self) { return self.gather(1, index); })));
}

TEST(ScatterSumTest, NothingToAdd) {
  at::Tensor none = scatterSum(at::zeros({0, 4}), at::zeros({0, 4}, at::kLong), 0, {3, 4});
  EXPECT_TRUE(at::equal(none, at::zeros({3, 4})));
}

TEST(ScatterSumTest, SumsOfHalfTypesAreTakenInFloat) {
  // bf16 values near 256 are 2 apart: each 1 alone would be lost.
  at::Tensor source = at::ones({300}, at::kBFloat16), index = at::zeros({300}, at::kLong);
  EXPECT_EQ(scatterSum(source, index, 0, {2})[0].item<float>(), 300);
  EXPECT_EQ(indexSum(source, {index}, {2})[0].item<float>(), 300);
}

TEST(IndexSumTest, IsTheGradientOfIndex) {
  at::Tensor rows = at::randint(3, {5, 1}, at::kLong), columns = at::randint(4, {6}, at::kLong);
  at::Tensor gradient = at::randn({5, 6, 2}, at::kDouble);
  EXPECT_TRUE(at::allclose(
      indexSum(gradient, {rows, columns}, {3, 4, 2}),
      expectedSum({3, 4, 2}, gradient, [&](const at::Tensor &self) { return at::index(self, {rows, columns}); }), 1e-12,
      1e-12));
  // A dim between the indexed ones: the dims of the index tensors come first.
  EXPECT_TRUE(
      at::allclose(indexSum(gradient, {rows, {}, columns}, {3, 2, 4}),
                   expectedSum({3, 2, 4}, gradient,
                               [&](const at::Tensor &self) { return at::index(self, {rows, std::nullopt, columns}); }),
                   1e-12, 1e-12));
}

TEST(IndexSumTest, NothingToAdd) {
  EXPECT_TRUE(at::equal(indexSum(at::zeros({2, 0}), {{}, at::zeros({0}, at::kLong)}, {2, 3}), at::zeros({2, 3})));
}
