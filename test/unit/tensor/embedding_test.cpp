#include "runtime/schema/extent.h"
#include "runtime/tensor/torch/kernels/embedding.h"
#include "test/unit/tensor/call_helper.h"

using namespace meshplan;

static at::Tensor shardOfRows(const at::Tensor &weight, const at::Tensor &indices, int64_t offset, int64_t rows) {
  return callOperator("meshplan.embedding", {weight.narrow(0, offset, rows), indices},
                      {value("weight", 0), value("indices", 1), {"offset", offset}})[0];
}

TEST(EmbeddingTest, ShardsAddUpToTheTable) {
  at::Tensor weight = at::randn({10, 4}, at::kDouble), indices = at::randint(10, {2, 7}, at::kLong);
  at::Tensor sum =
      shardOfRows(weight, indices, 0, 4) + shardOfRows(weight, indices, 4, 3) + shardOfRows(weight, indices, 7, 3);
  EXPECT_TRUE(at::equal(sum, at::embedding(weight, indices)));
}

TEST(EmbeddingTest, RowsElsewhereAreZeroEvenIfOwnRowsAreNotFinite) {
  at::Tensor weight = at::full({4, 2}, std::numeric_limits<double>::quiet_NaN());
  EXPECT_TRUE(at::equal(shardOfRows(weight, at::tensor({2, 3}), 0, 2), at::zeros({2, 2})));
}

TEST(EmbeddingTest, AnIndexThatNoShardHoldsIsAnErrorOnEveryShard) {
  at::Tensor weight = at::randn({5, 2});
  EXPECT_NO_THROW(shardedEmbedding(weight, at::tensor({int64_t(0), int64_t(9)}), 5, 10));
  EXPECT_THROW(shardedEmbedding(weight, at::tensor({int64_t(0), int64_t(10)}), 5, 10), c10::IndexError);
  EXPECT_THROW(shardedEmbedding(weight, at::tensor({int64_t(-1), int64_t(9)}), 5, 10), c10::IndexError);
}

TEST(EmbeddingTest, ShardWithoutRows) {
  at::Tensor weight = at::randn({4, 2}).to(at::kBFloat16);
  at::Tensor out = shardOfRows(weight, at::tensor({0, 1, 2}), 4, 0);
  EXPECT_TRUE(at::equal(out, at::zeros({3, 2}, at::kBFloat16)));
}

TEST(EmbeddingTest, AnyDivisionOfTheRows) {
  for (at::ScalarType type : {at::kDouble, at::kFloat, at::kBFloat16, at::kHalf})
    for (at::ScalarType indexType : {at::kLong, at::kInt}) {
      at::Tensor weight = at::randn({7, 3}).to(type), indices = at::randint(7, {2, 4, 3}, at::kLong).to(indexType);
      for (int64_t ranks = 1; ranks <= 9; ++ranks) {
        at::Tensor sum = at::zeros({2, 4, 3, 3}, type);
        for (int64_t rank = 0; rank < ranks; ++rank) {
          Range rows = shardRange(7, 1, ranks, rank);
          sum += shardOfRows(weight, indices, rows.offset, rows.size);
        }
        EXPECT_TRUE(at::equal(sum, at::embedding(weight, indices))) << "all but one addend are zero";
      }
    }
}

TEST(EmbeddingTest, OneIndexAndNone) {
  at::Tensor weight = at::randn({5, 2});
  EXPECT_TRUE(at::equal(shardOfRows(weight, at::scalar_tensor(3, at::kLong), 2, 3), weight[3]));
  EXPECT_EQ(shardOfRows(weight, at::empty({0, 4}, at::kLong), 0, 5).sizes(), (at::IntArrayRef{0, 4, 2}));
  EXPECT_NO_THROW(shardedEmbedding(weight, at::empty({0}, at::kLong), 0, 5)) << "no index is out of range";
}

TEST(EmbeddingTest, FailuresSayWhatIsWrong) {
  auto failure = [](const at::Tensor &weight, const at::Tensor &indices) {
    std::vector<Argument> arguments = {
        value("weight", 0), value("indices", 1), {"offset", int64_t(0)}, {"rows", int64_t(6)}};
    auto call = prepareCall("meshplan.embedding", arguments, {2});
    EXPECT_TRUE(call.ok());
    std::vector<Tensor> values = {wrap(at::Tensor(weight)), wrap(at::Tensor(indices)), Tensor()};
    return (*call)->run(values).message();
  };
  at::Tensor weight = at::randn({3, 2});
  EXPECT_EQ(failure(weight, at::tensor({1, 6}, at::kLong)), "index 6 at [1] is out of range [0, 6)");
  EXPECT_EQ(failure(weight, at::tensor({-2, 7}, at::kLong)), "index -2 at [0] is out of range [0, 6)");
  EXPECT_EQ(failure(weight[0], at::tensor({1}, at::kLong)), "weight must have 2 dims, it has 1");
}
