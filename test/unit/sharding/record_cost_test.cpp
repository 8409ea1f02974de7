//===- record_cost_test.cpp - costs of records ----------------------------===//

#include "parsed_call.h"

using namespace meshplan;

namespace {

class RecordCost : public CallTest {
protected:
  OpCost cost(llvm::StringRef target, llvm::StringRef args, llvm::StringRef types) {
    return record(target).cost(parse(target, args, types));
  }
};

constexpr char unary[] = "{self = #plan.operand<0>}";
constexpr char binary[] = "{self = #plan.operand<0>, other = #plan.operand<1>}";

TEST_F(RecordCost, ProductsCostTwoFlopsForEachTerm) {
  OpCost linear = cost("aten.linear.default", "{input = #plan.operand<0>, weight = #plan.operand<1>}",
                       "(tensor<4x8x16xf32>, tensor<32x16xf32>) -> tensor<4x8x32xf32>");
  EXPECT_EQ(linear.flops, 2 * 4 * 8 * 16 * 32);
  EXPECT_EQ(linear.bytes, 4 * (4 * 8 * 16 + 32 * 16 + 4 * 8 * 32));
  EXPECT_EQ(linear.workspaceBytes, 0);
  EXPECT_FALSE(linear.aliases);
}

TEST_F(RecordCost, MatmulExpandsBroadcastBatches) {
  // [6, 12, 4] is expanded to the four matrices of the other operand's batch.
  OpCost matmul =
      cost("aten.matmul.default", binary, "(tensor<4x6x2x12xf32>, tensor<6x12x4xf32>) -> tensor<4x6x2x4xf32>");
  EXPECT_EQ(matmul.workspaceBytes, 4 * (6 * 12 * 4) * 4);
}

TEST_F(RecordCost, ViewsAllocateNothing) {
  OpCost view = cost("aten.transpose.int", "{self = #plan.operand<0>, dim0 = 0, dim1 = 1}",
                     "(tensor<4x6xf32>) -> tensor<6x4xf32>");
  EXPECT_TRUE(view.aliases);
  EXPECT_EQ(view.bytes + view.flops + view.workspaceBytes, 0);
}

TEST_F(RecordCost, ElementwiseReadsAndWrites) {
  OpCost add = cost("aten.add.Tensor", binary, "(tensor<4x6xf32>, tensor<6xf32>) -> tensor<4x6xf32>");
  EXPECT_EQ(add.bytes, 4 * (24 + 6 + 24));
  EXPECT_EQ(add.workspaceBytes, 0);
}

TEST_F(RecordCost, MixedDtypesAreConvertedFirst) {
  OpCost add = cost("aten.add.Tensor", binary, "(tensor<4x6xbf16>, tensor<4x6xf32>) -> tensor<4x6xf32>");
  EXPECT_EQ(add.workspaceBytes, 24 * 4);
}

TEST_F(RecordCost, ConversionToTheSameDtypeIsTheOperand) {
  EXPECT_TRUE(cost("aten.to.dtype", unary, "(tensor<4xf32>) -> tensor<4xf32>").aliases);
  EXPECT_FALSE(cost("aten.to.dtype", unary, "(tensor<4xf32>) -> tensor<4xbf16>").aliases);
  EXPECT_FALSE(
      cost("aten.to.dtype", "{self = #plan.operand<0>, copy = true}", "(tensor<4xf32>) -> tensor<4xf32>").aliases);
}

TEST_F(RecordCost, ConditionsAreReadAsTheyAre) {
  constexpr char args[] = "{condition = #plan.operand<0>, self = #plan.operand<1>, other = #plan.operand<2>}";
  EXPECT_EQ(cost("aten.where.self", args, "(tensor<4x6xi1>, tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>")
                .workspaceBytes,
            0);
  EXPECT_EQ(cost("aten.where.self", args, "(tensor<4x6xi1>, tensor<4x6xf32>, tensor<4x6xbf16>) -> tensor<4x6xf32>")
                .workspaceBytes,
            24 * 4);
}

TEST_F(RecordCost, IntegersAreConvertedForAQuotient) {
  EXPECT_EQ(cost("aten.div.Tensor", binary, "(tensor<4xi64>, tensor<4xi64>) -> tensor<4xf32>").workspaceBytes,
            2 * 4 * 4);
}

TEST_F(RecordCost, ReductionsConvertTheirOperandFirst) {
  EXPECT_EQ(cost("aten.sum.default", unary, "(tensor<4x6xi1>) -> tensor<i64>").workspaceBytes, 24 * 8);
  EXPECT_EQ(cost("aten.sum.default", unary, "(tensor<4x6xbf16>) -> tensor<bf16>").workspaceBytes, 0);
  EXPECT_EQ(cost("aten.mean.default", unary, "(tensor<4x6xbf16>) -> tensor<bf16>").workspaceBytes, 24 * 4);
}

/// As metered on PyTorch 2.11: rms_norm holds one tensor besides the result in float, two and a half in half types.
TEST_F(RecordCost, RmsNormIsComposite) {
  constexpr char args[] = "{input = #plan.operand<0>, normalized_shape = [6]}";
  EXPECT_EQ(cost("aten.rms_norm.default", args, "(tensor<4x6xf32>) -> tensor<4x6xf32>").workspaceBytes, 24 * 4);
  EXPECT_EQ(cost("aten.rms_norm.default", args, "(tensor<4x6xbf16>) -> tensor<4x6xbf16>").workspaceBytes, 24 * 10);
}

TEST_F(RecordCost, SumOfExponentialsWorksInBlocks) {
  constexpr char args[] = "{input = #plan.operand<0>, max = #plan.operand<1>}";
  EXPECT_EQ(cost("meshplan.row_sum_exp", args, "(tensor<6x12xf32>, tensor<6xf32>) -> tensor<6xf32>").workspaceBytes,
            6 * 12 * 4);
  EXPECT_EQ(
      cost("meshplan.row_sum_exp", args, "(tensor<512x49152xf32>, tensor<512xf32>) -> tensor<512xf32>").workspaceBytes,
      65536 * 4);
}

TEST_F(RecordCost, AttentionHoldsATile) {
  constexpr char args[] = "{query = #plan.operand<0>, key = #plan.operand<1>, value = #plan.operand<2>}";
  OpCost attention = cost("meshplan.attention", args,
                          "(tensor<1x6x64x8xf32>, tensor<1x3x64x8xf32>, tensor<1x3x64x8xf32>) "
                          "-> (tensor<1x6x64x8xf32>, tensor<1x6x64xf32>)");
  EXPECT_EQ(attention.flops, 2 * 6 * 64 * 64 * (8 + 8));
  int64_t tile = 4 * 32 * (64 + 2 + 8);
  EXPECT_EQ(attention.workspaceBytes, tile);
}

TEST_F(RecordCost, AttentionMasksAreMadeForBlocksOfRows) {
  constexpr char args[] = "{query = #plan.operand<0>, key = #plan.operand<1>, value = #plan.operand<2>, "
                          "key_mask = #plan.operand<3>, causal = true}";
  OpCost attention = cost("meshplan.attention", args,
                          "(tensor<4x2x1024x8xf32>, tensor<4x2x1024x8xf32>, tensor<4x2x1024x8xf32>, tensor<4x1024xi1>) "
                          "-> (tensor<4x2x1024x8xf32>, tensor<4x2x1024xf32>)");
  int64_t places = 512 * 1024, mask = 4 * places * 4, block = 4 * 2 * 512 * (8 * 4 + 4);
  int64_t tile = 4 * 64 * (512 + 2 + 8);
  EXPECT_EQ(attention.workspaceBytes, std::max(places * 4 + mask, mask + block + tile));
}

TEST_F(RecordCost, LookupsReadOnlyWhatTheyTake) {
  OpCost embedding = cost("aten.embedding.default", "{weight = #plan.operand<0>, indices = #plan.operand<1>}",
                          "(tensor<49152x8xf32>, tensor<6xi64>) -> tensor<6x8xf32>");
  EXPECT_EQ(embedding.bytes, 2 * 4 * 6 * 8);
}

} // namespace
