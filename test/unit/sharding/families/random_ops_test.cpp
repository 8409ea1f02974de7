//===- random_ops_test.cpp - calls that draw random numbers ---------------===//

#include "compiler/sharding/families/random_ops.h"
#include "test/unit/sharding/parsed_call.h"

using namespace meshplan;

namespace {

struct RandomOps : CallTest {
  bool draws(llvm::StringRef target, llvm::StringRef args) {
    return drawsRandomNumbers(parse(target, args, "() -> tensor<4xf32>"));
  }
};

TEST_F(RandomOps, Creation) {
  EXPECT_TRUE(draws("aten.rand.default", "{size = [4]}"));
  EXPECT_TRUE(draws("aten.randn_like.default", "{}"));
  EXPECT_TRUE(draws("aten.bernoulli.p", "{p = 0.0}"));
  EXPECT_FALSE(draws("aten.zeros.default", "{size = [4]}"));
}

TEST_F(RandomOps, DropoutDrawsWhileItDrops) {
  EXPECT_TRUE(draws("aten.dropout.default", "{p = 0.5, train = true}"));
  EXPECT_FALSE(draws("aten.dropout.default", "{p = 0.5, train = false}"));
  EXPECT_FALSE(draws("aten.dropout.default", "{p = 0.0, train = true}"));
  EXPECT_FALSE(draws("aten.dropout.default", "{p = 0, train = true}"));
  EXPECT_TRUE(draws("aten.native_dropout.default", "{p = 0.5, train = unit}")) << "None counts as true";
}

TEST_F(RandomOps, AttentionDrawsWithAProbability) {
  EXPECT_FALSE(draws("aten.scaled_dot_product_attention.default", "{}"));
  EXPECT_FALSE(draws("aten.scaled_dot_product_attention.default", "{dropout_p = 0.0}"));
  EXPECT_TRUE(draws("aten.scaled_dot_product_attention.default", "{dropout_p = 0.1}"));
  EXPECT_TRUE(draws("meshplan.attention", "{dropout = 0.1}"));
  EXPECT_FALSE(draws("meshplan.attention", "{scale = 0.1}"));
  EXPECT_FALSE(draws("meshplan.attention", "{dropout = 0.1, number = 0}")) << "its numbers follow from that";
  EXPECT_FALSE(draws("meshplan.dropout", "{p = 0.1, number = 4}"));
  EXPECT_TRUE(draws("meshplan.dropout_rows", "{p = 0.1}"));
  EXPECT_FALSE(draws("meshplan.dropout_rows", "{p = 0.1, number = 4}"));
}

TEST_F(RandomOps, NumbersThatKernelsDraw) {
  auto drawn = [&](llvm::StringRef target, llvm::StringRef args, llvm::StringRef type) {
    return drawCount(parse(target, args, type));
  };
  EXPECT_EQ(drawn("meshplan.uniform", "{size = [4, 3], number = 0}", "() -> tensor<4x3xf32>"), 12);
  EXPECT_EQ(drawn("meshplan.dropout", "{input = #base.operand<0>, p = 0.5, number = 1}",
                  "(tensor<4x5xf32>) -> tensor<4x5xf32>"),
            20);
  EXPECT_EQ(drawn("meshplan.dropout_rows", "{rows = #base.operand<0>, p = 0.5, number = 1}",
                  "(tensor<3x4x5xf32>) -> tensor<3x4x5xf32>"),
            60)
      << "of all tokens and experts";
  EXPECT_EQ(drawn("aten.rand.default", "{size = [4]}", "() -> tensor<4xf32>"), 0);
  std::string attention = "(tensor<4x6x3x8xf32>, tensor<4x2x7x8xf32>, tensor<4x2x7x8xf32>) -> (tensor<4x6x3x8xf32>, "
                          "tensor<4x6x3xf32>)",
              operands = "{query = #base.operand<0>, key = #base.operand<1>, value = #base.operand<2>, ";
  EXPECT_EQ(drawn("meshplan.attention", operands + "dropout = 0.5, number = 1}", attention), 4 * 6 * 3 * 7);
  EXPECT_EQ(drawn("meshplan.attention", operands + "scale = 0.5}", attention), 0);
}

TEST_F(RandomOps, LayersDrawInTraining) {
  EXPECT_FALSE(draws("aten.rrelu.default", "{}"));
  EXPECT_TRUE(draws("aten.rrelu.default", "{training = true}"));
  EXPECT_FALSE(draws("aten.lstm.input", "{dropout = 0.5, train = false}"));
  EXPECT_TRUE(draws("aten.lstm.input", "{dropout = 0.5, train = true}"));
  EXPECT_FALSE(draws("aten.lstm.input", "{dropout = 0.0, train = true}"));
}

} // namespace
