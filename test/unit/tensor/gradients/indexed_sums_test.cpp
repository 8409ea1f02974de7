#include "runtime/schema/extent.h"
#include "test/unit/tensor/call_helper.h"

#include <ATen/Parallel.h>
#include <gmock/gmock.h>
#include <torch/csrc/autograd/autograd.h>

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

namespace {

struct Table {
  int64_t paddingIdx = -1;
  bool scaled = false;

  /// The gradient of the rows [offset, offset + rows).
  at::Tensor gradient(const at::Tensor &gradient, const at::Tensor &indices, int64_t rows, int64_t offset = 0) const {
    at::Tensor weight = at::empty({rows, gradient.size(-1)});
    return callNamed("meshplan.embedding_gradient", {{"gradient", gradient}, {"indices", indices}, {"weight", weight}},
                     {{"offset", offset}, {"padding_idx", paddingIdx}, {"scale_grad_by_freq", scaled}})[0];
  }

  at::Tensor expected(const at::Tensor &gradient, const at::Tensor &indices, int64_t rows) const {
    at::Tensor leaf = at::zeros({rows, gradient.size(-1)}, at::kDouble).requires_grad_(true);
    at::Tensor out = at::embedding(leaf, indices, paddingIdx, scaled);
    return torch::autograd::grad({out}, {leaf}, {gradient.to(at::kDouble)})[0];
  }
};

class ThreadCount {
public:
  ThreadCount() : outer(at::get_num_threads()) {}
  ~ThreadCount() { at::set_num_threads(outer); }

private:
  int outer;
};

} // namespace

TEST(EmbeddingGradientTest, AnyDivisionOfTheRows) {
  at::manual_seed(4);
  at::Tensor gradient = at::randn({2, 9, 3, 5}, at::kDouble), indices = at::randint(7, {2, 9, 3}, at::kLong);
  for (int64_t padding : {-1, 0, 4})
    for (bool scaled : {false, true})
      for (at::ScalarType type : {at::kLong, at::kInt})
        for (int64_t ranks = 1; ranks <= 9; ++ranks) {
          Table table{padding, scaled};
          std::vector<at::Tensor> parts;
          for (int64_t rank = 0; rank < ranks; ++rank) {
            Range rows = shardRange(7, 1, ranks, rank);
            parts.push_back(table.gradient(gradient, indices.to(type), rows.size, rows.offset));
          }
          // In the order of PyTorch's own sums.
          EXPECT_TRUE(at::equal(at::cat(parts), table.expected(gradient, indices, 7))) << ranks << " ranks";
        }
}

TEST(EmbeddingGradientTest, RowsThatDoNotOccurAreZero) {
  at::Tensor found = Table{}.gradient(at::ones({2, 3}), at::tensor({int64_t(5), int64_t(5)}), 4, 3);
  EXPECT_TRUE(at::equal(found[2], at::full({3}, 2.0f)));
  found[2].zero_();
  EXPECT_TRUE(at::equal(found, at::zeros({4, 3})));
}

/// A token that occurs thousands of times: sums in 16 bits would stop growing at 256 or 2048.
TEST(EmbeddingGradientTest, HalfTypesAreRoundedOnce) {
  at::manual_seed(5);
  for (auto [type, unit] : {std::pair(at::kBFloat16, 0x1p-8), std::pair(at::kHalf, 0x1p-11)})
    for (bool scaled : {false, true}) {
      at::Tensor gradient = at::rand({6000, 3}).add_(0.5).to(type), indices = at::randint(3, {6000}, at::kLong);
      Table table{-1, scaled};
      at::Tensor expected = table.expected(gradient, indices, 1000);
      at::Tensor found = at::cat({table.gradient(gradient, indices, 2, 0), table.gradient(gradient, indices, 998, 2)});
      EXPECT_EQ(found.scalar_type(), type);
      // 2,000 additions of positive values in f32 before the single rounding: at most 2^11 times 2^-24.
      at::Tensor bound = expected.abs() * (unit * 1.01 + 0x1p-13);
      EXPECT_TRUE((found.to(at::kDouble) - expected).abs().le(bound).all().item<bool>()) << at::toString(type);
    }
}

TEST(EmbeddingGradientTest, SameBitsWithAnyNumberOfThreads) {
  at::manual_seed(6);
  ThreadCount restored;
  for (at::ScalarType type : {at::kFloat, at::kBFloat16}) {
    at::Tensor gradient = at::randn({5000, 8}).to(type);
    // Half of the tokens are one token; the rows are split over several parts.
    at::Tensor indices = at::cat({at::randint(9000, {2500}, at::kLong), at::full({2500}, 3, at::kLong)});
    at::set_num_threads(1);
    at::Tensor expected = Table{}.gradient(gradient, indices, 9000);
    for (int threads : {2, 3, 7}) {
      at::set_num_threads(threads);
      for (int repeat = 0; repeat < 3; ++repeat)
        EXPECT_TRUE(at::equal(Table{}.gradient(gradient, indices, 9000), expected)) << threads << " threads";
    }
  }
}

TEST(EmbeddingGradientTest, NothingToAdd) {
  at::Tensor gradient = at::ones({2, 3}), indices = at::tensor({int64_t(1), int64_t(1)});
  EXPECT_TRUE(at::equal(Table{}.gradient(gradient, indices, 4, 4), at::zeros({4, 3})));
  EXPECT_TRUE(at::equal(Table{1}.gradient(gradient, indices, 4), at::zeros({4, 3}))) << "all are padding";
  EXPECT_EQ(Table{}.gradient(gradient, indices, 0, 1).sizes(), (at::IntArrayRef{0, 3}));
  at::Tensor none = at::empty({0, 2}, at::kLong);
  EXPECT_TRUE(at::equal(Table{}.gradient(at::empty({0, 2, 3}).to(at::kHalf), none, 4), at::zeros({4, 3}, at::kHalf)));
  EXPECT_TRUE(at::equal(Table{}.gradient(at::ones({3}), at::scalar_tensor(1, at::kLong), 2, 1)[0], at::ones({3})));
}

TEST(EmbeddingGradientTest, Refusals) {
  at::Tensor gradient = at::ones({2, 3}), indices = at::tensor({int64_t(1), int64_t(1)});
  auto failure = [&](const at::Tensor &weight) {
    return failureOf("meshplan.embedding_gradient", {{"gradient", gradient}, {"indices", indices}, {"weight", weight}});
  };
  EXPECT_EQ(failure(at::ones({4})), "weight must have 2 dims, it has 1");
  EXPECT_EQ(failure(at::ones({4, 2})), "gradient [2, 3] does not fit indices [2] and weight [4, 2]");
  EXPECT_EQ(failure(at::Tensor()), "there is neither a weight nor a number of rows");
}

/// A table of which only the number of rows is known.
TEST(EmbeddingGradientTest, WithoutATable) {
  at::Tensor gradient = at::randn({5, 3}), indices = at::tensor({7, 2, 9, 4, 2}, at::kLong);
  std::vector<Argument> arguments{
      value("gradient", 0), value("indices", 1), {"offset", int64_t(2)}, {"rows", int64_t(6)}};
  at::Tensor own = callOperator("meshplan.embedding_gradient", {gradient, indices}, arguments)[0];
  at::Tensor whole = at::embedding_dense_backward(gradient, indices, 10, /*padding_idx=*/-1, false);
  EXPECT_TRUE(at::equal(own, whole.narrow(0, 2, 6)));
}

static std::vector<Argument> groupsOf(int64_t groups, int64_t heads, int64_t first) {
  return {{"groups", groups}, {"heads_per_group", heads}, {"first_head", first}};
}

static at::Tensor sums(const at::Tensor &input, int64_t groups, int64_t heads, int64_t first) {
  return callNamed("meshplan.sum_shared_heads", {{"input", input}}, groupsOf(groups, heads, first))[0];
}

TEST(SharedHeadsTest, EveryPartOfTheHeads) {
  at::Tensor all = at::randn({2, 12, 3, 5}, at::kDouble);
  for (int64_t perGroup : {1, 2, 3, 12})
    for (int64_t first = 0; first <= 12; ++first)
      for (int64_t heads = 0; first + heads <= 12; ++heads) {
        at::Tensor expected = at::zeros({2, 12 / perGroup, 3, 5}, at::kDouble);
        for (int64_t head = first; head < first + heads; ++head)
          expected.select(1, head / perGroup) += all.select(1, head);
        // At most 12 additions of values below 5 in another order.
        EXPECT_LT(difference(sums(all.narrow(1, first, heads), 12 / perGroup, perGroup, first), expected), 1e-14);
      }
}

TEST(SharedHeadsTest, GroupsWithoutHeadsAreZero) {
  at::Tensor found = sums(at::ones({1, 2, 1, 1}), 4, 2, 2);
  EXPECT_TRUE(at::equal(found, at::tensor({0.0f, 2.0f, 0.0f, 0.0f}).view({1, 4, 1, 1})));
}

TEST(SharedHeadsTest, HalfTypesAreRoundedOnce) {
  for (at::ScalarType type : {at::kBFloat16, at::kHalf}) {
    at::Tensor input = at::randn({3, 64, 2, 7}).to(type);
    at::Tensor exact = input.to(at::kFloat).sum(1, true);
    at::Tensor found = sums(input, 1, 64, 0);
    EXPECT_EQ(found.scalar_type(), type);
    // A sum in f32 in another order may be rounded to the neighbouring value of the type, but not further.
    EXPECT_TRUE(at::allclose(found.to(at::kFloat), exact, type == at::kHalf ? 0x1p-11 : 0x1p-8, 1e-5));
    at::Tensor sum = input.select(1, 0);
    for (int64_t head = 1; head < 64; ++head)
      sum = sum + input.select(1, head);
    EXPECT_GT(difference(sum, found.squeeze(1)), 0) << "a sum that is rounded each time is another";
  }
}

TEST(SharedHeadsTest, Refusals) {
  auto failure = [](const at::Tensor &input, int64_t groups, int64_t heads, int64_t first) {
    return failureOf("meshplan.sum_shared_heads", {{"input", input}}, groupsOf(groups, heads, first));
  };
  at::Tensor x = at::zeros({1, 3, 2, 2});
  EXPECT_EQ(failure(x, 2, 2, 2), "heads 2 to 5 do not fit 2 groups of 2");
  EXPECT_EQ(failure(x, 2, 2, -1), "heads -1 to 2 do not fit 2 groups of 2");
  EXPECT_EQ(failure(x, 2, 0, 0), "heads 0 to 3 do not fit 2 groups of 0");
  EXPECT_EQ(failure(at::zeros({3}), 2, 2, 0), "input must have 2 dims or more, it has 1");
}
