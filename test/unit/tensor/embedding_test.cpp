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
