#include "runtime/schema/extent.h"
#include "test/unit/tensor/call_helper.h"

#include <ATen/Parallel.h>
#include <gmock/gmock.h>
#include <torch/csrc/autograd/autograd.h>

using namespace meshplan;

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
