//===- cost_test.cpp - costs of records -----------------------------------===//

#include "test/unit/sharding/parsed_call.h"

using namespace meshplan;

namespace {

class RecordCost : public CallTest {
protected:
  /// `strides` of the operands; row-major by default.
  OpCost cost(llvm::StringRef target, llvm::StringRef args, llvm::StringRef types,
              llvm::ArrayRef<Strides> strides = {}) {
    CallView call = parse(target, args, types);
    call.strides.assign(strides.begin(), strides.end());
    return record(target).cost(call);
  }
};

TEST_F(RecordCost, ProductsCostTwoFlopsForEachTerm) {
  OpCost linear = cost("aten.linear.default", "{input = #base.operand<0>, weight = #base.operand<1>}",
                       "(tensor<4x8x16xf32>, tensor<32x16xf32>) -> tensor<4x8x32xf32>");
  EXPECT_EQ(linear.flops, 2 * 4 * 8 * 16 * 32);
  EXPECT_EQ(linear.bytes, 4 * (4 * 8 * 16 + 32 * 16 + 4 * 8 * 32));
  EXPECT_EQ(linear.workspaceBytes, 0);
  EXPECT_FALSE(linear.aliases);
}

// As metered with PyTorch 2.11, whose oneDNN reorders gradient and result to match a row-major operand.
TEST_F(RecordCost, TheGradientOfGeluIsReordered) {
  constexpr char args[] = "{grad_output = #base.operand<0>, self = #base.operand<1>}";
  constexpr char types[] = "(tensor<128x8x256xf32>, tensor<128x8x256xf32>) -> tensor<128x8x256xf32>";
  constexpr int64_t bytes = 4 * 128 * 8 * 256;
  Strides own{2048, 256, 1}, turned{256, 32768, 1}, same{0, 0, 0};
  auto workspace = [&](const char *args, const char *types, const Strides &gradient, const Strides &self) {
    return cost("aten.gelu_backward.default", args, types, {gradient, self}).workspaceBytes;
  };
  EXPECT_EQ(workspace(args, types, own, own), 0);
  EXPECT_EQ(workspace(args, types, turned, turned), 0);
  EXPECT_EQ(workspace(args, types, own, turned), 0);
  EXPECT_EQ(workspace(args, types, turned, own), 2 * bytes);
  EXPECT_EQ(workspace(args, types, same, own), bytes) << "the result lies as the operand";
  constexpr char half[] = "(tensor<128x8x256xbf16>, tensor<128x8x256xbf16>) -> tensor<128x8x256xbf16>";
  EXPECT_EQ(workspace(args, half, turned, own), bytes);
  constexpr char wide[] = "(tensor<128x8x256xf64>, tensor<128x8x256xf64>) -> tensor<128x8x256xf64>";
  EXPECT_EQ(workspace(args, wide, turned, own), 0) << "ATen computes it";
  constexpr char tanh[] = "{grad_output = #base.operand<0>, self = #base.operand<1>, approximate = \"tanh\"}";
  EXPECT_EQ(workspace(tanh, types, turned, own), 0);
}

TEST_F(RecordCost, MatmulExpandsBroadcastBatches) {
  // [6, 12, 4] is expanded to the four matrices of the other operand's batch.
  OpCost matmul =
      cost("aten.matmul.default", binary, "(tensor<4x6x2x12xf32>, tensor<6x12x4xf32>) -> tensor<4x6x2x4xf32>");
  EXPECT_EQ(matmul.workspaceBytes, 4 * (6 * 12 * 4) * 4);
}

TEST_F(RecordCost, ViewsAllocateNothing) {
  OpCost view = cost("aten.transpose.int", "{self = #base.operand<0>, dim0 = 0, dim1 = 1}",
                     "(tensor<4x6xf32>) -> tensor<6x4xf32>");
  EXPECT_TRUE(view.aliases);
  EXPECT_EQ(view.bytes + view.flops + view.workspaceBytes, 0);
}

/// Heads and rows were swapped: [2, 4, 6, 8] has the memory order of [2, 6, 4, 8].
const Strides swapped = {192, 8, 32, 1};

TEST_F(RecordCost, ReshapesAreViewsWhereStridesAllow) {
  constexpr char args[] = "{self = #base.operand<0>, shape = [2, 4, 48]}";
  constexpr char types[] = "(tensor<2x4x6x8xf32>) -> tensor<2x4x48xf32>";
  for (llvm::StringRef target : {"aten.reshape.default", "aten.view.default", "aten.flatten.using_ints"}) {
    EXPECT_TRUE(cost(target, args, types).aliases);
    EXPECT_FALSE(cost(target, args, types, {swapped}).aliases);
  }
  EXPECT_TRUE(cost("aten.contiguous.default", unary, "(tensor<6xf32>) -> tensor<6xf32>").aliases);
  EXPECT_FALSE(cost("aten.contiguous.default", unary, "(tensor<6xf32>) -> tensor<6xf32>", {{2}}).aliases);
}

TEST_F(RecordCost, MatmulCopiesWhatIsNoListOfMatrices) {
  constexpr char types[] = "(tensor<2x4x6x8xf32>, tensor<2x4x8x6xf32>) -> tensor<2x4x6x6xf32>";
  Strides rowMajor = {192, 48, 6, 1}, turned = {192, 8, 1, 32};
  EXPECT_EQ(cost("aten.matmul.default", binary, types).workspaceBytes, 0);
  EXPECT_EQ(cost("aten.matmul.default", binary, types, {swapped, rowMajor}).workspaceBytes, 4 * 384);
  EXPECT_EQ(cost("aten.matmul.default", binary, types, {swapped, turned}).workspaceBytes, 2 * 4 * 384);
}

TEST_F(RecordCost, LinearCopiesWhatIsNoListOfMatrices) {
  constexpr char args[] = "{input = #base.operand<0>, weight = #base.operand<1>, bias = #base.operand<2>}";
  constexpr char types[] = "(tensor<4x6x8xf32>, tensor<2x8xf32>, tensor<2xf32>) -> tensor<4x6x2xf32>";
  // A list of matrices with gaps between the rows needs no copy.
  EXPECT_EQ(cost("aten.linear.default", args, types, {{8, 32, 1}, {8, 1}, {1}}).workspaceBytes, 0);
  EXPECT_EQ(cost("aten.linear.default", "{input = #base.operand<0>, weight = #base.operand<1>}",
                 "(tensor<3x4x6x8xf32>, tensor<2x8xf32>) -> tensor<3x4x6x2xf32>", {{8, 144, 24, 1}, {8, 1}})
                .workspaceBytes,
            4 * 576);
  EXPECT_EQ(cost("aten.linear.default", "{input = #base.operand<0>, weight = #base.operand<1>}",
                 "(tensor<4x6x8xf32>, tensor<2x8xf32>) -> tensor<4x6x2xf32>", {{8, 32, 1}, {8, 1}})
                .workspaceBytes,
            0);
}

TEST_F(RecordCost, EinsumReshapesToListsOfMatrices) {
  constexpr char types[] = "(tensor<2x6x4x8xf32>, tensor<2x5x4x8xf32>) -> tensor<2x4x6x5xf32>";
  OpCost einsum = cost("aten.einsum.default",
                       "{equation = \"bqhd,bkhd->bhqk\", tensors = [#base.operand<0>, #base.operand<1>]}", types);
  EXPECT_EQ(einsum.flops, 2 * (2 * 4 * 6 * 5) * 8);
  EXPECT_EQ(einsum.workspaceBytes, 4 * (2 * 6 * 4 * 8 + 2 * 5 * 4 * 8));
}

TEST_F(RecordCost, SmallImagesAreUpsampledWithFeaturesInnermost) {
  constexpr char args[] = "{input = #base.operand<0>, align_corners = false}";
  constexpr char small[] = "(tensor<4x5x16x16xf32>) -> tensor<4x5x32x32xf32>";
  Strides featuresInnermost = {1280, 1, 80, 5};
  // Bytes that PyTorch's profiler counts besides the result.
  EXPECT_EQ(cost("aten.upsample_bilinear2d.vec", args, small).workspaceBytes, 102400);
  EXPECT_EQ(cost("aten.upsample_nearest2d.vec", args, small).workspaceBytes, 102400);
  EXPECT_EQ(cost("aten.upsample_bicubic2d.vec", args, small).workspaceBytes, 3072);
  EXPECT_EQ(cost("aten.upsample_bilinear2d.vec", args, small, {featuresInnermost}).workspaceBytes, 0);
  EXPECT_EQ(
      cost("aten.upsample_bilinear2d.vec", args, "(tensor<1x5x64x64xf32>) -> tensor<1x5x128x128xf32>").workspaceBytes,
      6144);
  EXPECT_EQ(
      cost("aten.upsample_trilinear3d.vec", args, "(tensor<2x5x8x8x8xf32>) -> tensor<2x5x16x16x16xf32>").workspaceBytes,
      1152);
}

TEST_F(RecordCost, NormsCopyStridedOperands) {
  constexpr char types[] = "(tensor<4x6xf32>) -> tensor<4x6xf32>";
  EXPECT_EQ(cost("aten.softmax.int", "{self = #base.operand<0>, dim = 1}", types, {{1, 4}}).workspaceBytes, 24 * 4);
  EXPECT_EQ(cost("aten.layer_norm.default", "{input = #base.operand<0>, normalized_shape = [6]}", types, {{1, 4}})
                .workspaceBytes,
            24 * 4 + 2 * 4 * 4);
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
      cost("aten.to.dtype", "{self = #base.operand<0>, copy = true}", "(tensor<4xf32>) -> tensor<4xf32>").aliases);
}

TEST_F(RecordCost, ConditionsAreReadAsTheyAre) {
  constexpr char args[] = "{condition = #base.operand<0>, self = #base.operand<1>, other = #base.operand<2>}";
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

/// As metered on PyTorch 2.11: rms_norm allocates one tensor besides the result in float, two and a half in half types.
TEST_F(RecordCost, RmsNormIsComposite) {
  constexpr char args[] = "{input = #base.operand<0>, weight = #base.operand<1>, normalized_shape = [6]}";
  EXPECT_EQ(cost("aten.rms_norm.default", args, "(tensor<4x6xf32>, tensor<6xf32>) -> tensor<4x6xf32>").workspaceBytes,
            24 * 4);
  EXPECT_EQ(
      cost("aten.rms_norm.default", args, "(tensor<4x6xbf16>, tensor<6xbf16>) -> tensor<4x6xbf16>").workspaceBytes,
      24 * 10);
  EXPECT_EQ(cost("aten.rms_norm.default", "{input = #base.operand<0>, normalized_shape = [6]}",
                 "(tensor<4x6xf32>) -> tensor<4x6xf32>")
                .workspaceBytes,
            2 * 4 * 4);
}

TEST_F(RecordCost, IsinSortsWhereThereIsMuchToCompareWith) {
  constexpr char args[] = "{elements = #base.operand<0>, test_elements = #base.operand<1>}";
  EXPECT_EQ(cost("aten.isin.Tensor_Tensor", args, "(tensor<4x6xi64>, tensor<15xi64>) -> tensor<4x6xi1>").workspaceBytes,
            0);
  EXPECT_EQ(cost("aten.isin.Tensor_Tensor", args, "(tensor<4x6xi64>, tensor<16xi64>) -> tensor<4x6xi1>").workspaceBytes,
            (24 + 16) * (3 * 8 + 10) + 9 * 24);
  EXPECT_EQ(cost("aten.isin.Tensor_Scalar", "{elements = #base.operand<0>, test_element = 3}",
                 "(tensor<4x6xi64>) -> tensor<4x6xi1>")
                .workspaceBytes,
            0);
}

TEST_F(RecordCost, FunctionsOfMatricesFactorACopy) {
  OpCost inverse =
      cost("aten.linalg_inv.default", "{A = #base.operand<0>}", "(tensor<4x3x3xf32>) -> tensor<4x3x3xf32>");
  EXPECT_EQ(inverse.flops, 4 * 2 * 27);
  EXPECT_EQ(inverse.workspaceBytes, 4 * 9 * 4 + 4 * (12 + 4)) << "with pivots and numbers of failure";
  OpCost factor =
      cost("aten.linalg_cholesky.default", "{self = #base.operand<0>}", "(tensor<4x3x3xf32>) -> tensor<4x3x3xf32>");
  EXPECT_EQ(factor.workspaceBytes, 4 * 4) << "it is its own copy";
  EXPECT_EQ(cost("aten.linalg_det.default", "{A = #base.operand<0>}", "(tensor<0x0xf32>) -> tensor<f32>").flops, 0);
}

TEST_F(RecordCost, NanMeanCountsItsFlags) {
  constexpr char args[] = "{self = #base.operand<0>, dim = [1 : i64]}";
  EXPECT_EQ(cost("aten.nanmean.default", args, "(tensor<4x6xf32>) -> tensor<4xf32>").workspaceBytes, 9 * 24);
}

TEST_F(RecordCost, SumOfLogarithmsWorksInBlocks) {
  constexpr char args[] = "{input = #base.operand<0>, max = #base.operand<1>, sum_exp = #base.operand<2>}";
  OpCost half = cost("meshplan.row_sum_log_softmax", args,
                     "(tensor<6x12xbf16>, tensor<6xbf16>, tensor<6xbf16>) -> tensor<6xbf16>");
  EXPECT_EQ(half.workspaceBytes, 6 * 12 * 8) << "in f32 and shifted";
  EXPECT_EQ(half.flops, 4 * 6 * 12);
  EXPECT_EQ(half.bytes, (6 * 12 + 3 * 6) * 2);
}

TEST_F(RecordCost, SumOfExponentialsWorksInBlocks) {
  constexpr char args[] = "{input = #base.operand<0>, max = #base.operand<1>}";
  EXPECT_EQ(cost("meshplan.row_sum_exp", args, "(tensor<6x12xf32>, tensor<6xf32>) -> tensor<6xf32>").workspaceBytes,
            6 * 12 * 4);
  EXPECT_EQ(
      cost("meshplan.row_sum_exp", args, "(tensor<512x49152xf32>, tensor<512xf32>) -> tensor<512xf32>").workspaceBytes,
      65536 * 4);
}

TEST_F(RecordCost, AttentionHoldsATile) {
  constexpr char args[] = "{query = #base.operand<0>, key = #base.operand<1>, value = #base.operand<2>}";
  OpCost attention = cost("meshplan.attention", args,
                          "(tensor<1x6x64x8xf32>, tensor<1x3x64x8xf32>, tensor<1x3x64x8xf32>) "
                          "-> (tensor<1x6x64x8xf32>, tensor<1x6x64xf32>)");
  EXPECT_EQ(attention.flops, 2 * 6 * 64 * 64 * (8 + 8));
  int64_t tile = 4 * 32 * (64 + 2 + 8);
  EXPECT_EQ(attention.workspaceBytes, tile);
}

TEST_F(RecordCost, AttentionMasksAreMadeForBlocksOfRows) {
  constexpr char args[] = "{query = #base.operand<0>, key = #base.operand<1>, value = #base.operand<2>, "
                          "key_mask = #base.operand<3>, causal = true}";
  OpCost attention = cost("meshplan.attention", args,
                          "(tensor<4x2x1024x8xf32>, tensor<4x2x1024x8xf32>, tensor<4x2x1024x8xf32>, tensor<4x1024xi1>) "
                          "-> (tensor<4x2x1024x8xf32>, tensor<4x2x1024xf32>)");
  // A block has 512 rows and 1024 keys: 2 MiB of zeros beside the masks of four samples, 8 MiB, while these are made.
  EXPECT_EQ(attention.workspaceBytes, 10 << 20);
}

/// Of 2048 keys, a block of 512 rows reads its own and the 63 before.
TEST_F(RecordCost, AttentionMasksCoverTheKeysThatABlockReaches) {
  OpCost attention = cost("meshplan.attention",
                          "{query = #base.operand<0>, key = #base.operand<1>, value = #base.operand<2>, "
                          "causal = true, window = 64}",
                          "(tensor<1x2x2048x8xf32>, tensor<1x2x2048x8xf32>, tensor<1x2x2048x8xf32>) "
                          "-> (tensor<1x2x2048x8xf32>, tensor<1x2x2048xf32>)");
  EXPECT_EQ(attention.workspaceBytes, 512 * (512 + 63) * (4 + 8 + 1));
}

/// The definition needs the scaled query, the scores, a mask in double and the keys of each head.
TEST_F(RecordCost, AttentionWithASoftcapIsComputedInFloat) {
  OpCost attention = cost("meshplan.attention",
                          "{query = #base.operand<0>, key = #base.operand<1>, value = #base.operand<2>, softcap = 2.0}",
                          "(tensor<1x4x64x8xf32>, tensor<1x2x64x8xf32>, tensor<1x2x64x8xf32>) "
                          "-> (tensor<1x4x64x8xf32>, tensor<1x4x64xf32>)");
  int64_t scores = 4 * 64 * 64, features = 4 * 64 * 8, result = 4 * (features + 4 * 64);
  EXPECT_EQ(attention.workspaceBytes, 8 * 64 * 64 + 4 * (scores + 2 * features) - result);
}

/// As metered on PyTorch 2.11. oneDNN reorders images to blocks of 16 features: input and weight before, the result
/// after.
TEST_F(RecordCost, ConvolutionsChangeTheLayout) {
  constexpr char args[] = "{input = #base.operand<0>, weight = #base.operand<1>}";
  auto workspace = [&](llvm::StringRef types) { return cost("aten.conv2d.default", args, types).workspaceBytes; };
  EXPECT_EQ(workspace("(tensor<4x20x32x32xf32>, tensor<32x20x3x3xf32>) -> tensor<4x32x30x30xf32>"),
            4 * (4 * 32 * 32 * 32 + 32 * 32 * 9));
  EXPECT_EQ(workspace("(tensor<2x16x16x16xf32>, tensor<3x16x3x3xf32>) -> tensor<2x3x14x14xf32>"),
            32768 + 9216 + 4 * 2 * (16 - 3) * 14 * 14)
      << "the result has room for as many features";
  EXPECT_EQ(workspace("(tensor<2x8x16x16xf32>, tensor<8x8x3x3xf32>) -> tensor<2x8x14x14xf32>"), 4 * 2 * 16 * 14 * 14)
      << "images of few features stay";
  EXPECT_EQ(workspace("(tensor<4x3x32x32xf32>, tensor<32x3x3x3xf32>) -> tensor<4x32x30x30xf32>"), 4 * 4 * 32 * 900);
  // A small batch becomes a matrix of windows.
  EXPECT_EQ(workspace("(tensor<1x4x8x8xf32>, tensor<16x4x3x3xf32>) -> tensor<1x16x6x6xf32>"), 4 * (4 * 9) * 36);
  EXPECT_EQ(workspace("(tensor<1x4x8x8xf32>, tensor<16x4x2x2xf32>) -> tensor<1x16x4x4xf32>"), 4 * (4 * 4) * 16);
  EXPECT_EQ(workspace("(tensor<1x4x8x8xf32>, tensor<16x4x1x1xf32>) -> tensor<1x16x8x8xf32>"), 0);
}

TEST_F(RecordCost, TransposedConvolutionsToo) {
  constexpr char args[] = "{input = #base.operand<0>, weight = #base.operand<1>}";
  constexpr char strided[] = "{input = #base.operand<0>, weight = #base.operand<1>, stride = [2, 2]}";
  EXPECT_EQ(cost("aten.conv_transpose2d.input", strided,
                 "(tensor<2x16x16x16xf32>, tensor<16x16x2x2xf32>) -> tensor<2x16x32x32xf32>")
                .workspaceBytes,
            262144)
      << "two copies of the result";
  EXPECT_EQ(cost("aten.conv_transpose2d.input", args,
                 "(tensor<2x1x16x16xf32>, tensor<1x16x1x1xf32>) -> tensor<2x16x16x16xf32>")
                .workspaceBytes,
            32768);
  EXPECT_EQ(
      cost("aten.conv2d.default", strided, "(tensor<2x16x16x16xf32>, tensor<16x16x1x1xf32>) -> tensor<2x16x8x8xf32>")
          .workspaceBytes,
      38016 - 128)
      << "what windows of one element read is drawn together";
}

TEST_F(RecordCost, LookupsReadOnlyWhatTheyTake) {
  OpCost embedding = cost("aten.embedding.default", "{weight = #base.operand<0>, indices = #base.operand<1>}",
                          "(tensor<49152x8xf32>, tensor<6xi64>) -> tensor<6x8xf32>");
  EXPECT_EQ(embedding.bytes, 2 * 4 * 6 * 8);
}

/// Bytes that PyTorch's profiler counts for [64, 96, 128] and other shapes besides the result.
TEST_F(RecordCost, CompositesHoldWhatTheyMake) {
  constexpr char paired[] = "{x1 = #base.operand<0>, x2 = #base.operand<1>, dim = -1}";
  EXPECT_EQ(cost("aten.logsumexp.default", "{self = #base.operand<0>, dim = [-1]}",
                 "(tensor<64x96x128xf32>) -> tensor<64x96xf32>")
                .workspaceBytes,
            4 * (64 * 96 * 128 + 64 * 96));
  EXPECT_EQ(cost("aten.cosine_similarity.default", paired,
                 "(tensor<64x1x128xf32>, tensor<1x96x128xf32>) -> tensor<64x96xf32>")
                .workspaceBytes,
            4 * (3 * 64 * 96 * 128 + 2 * 64 * 96));
  EXPECT_EQ(cost("aten.scatter_add.default",
                 "{self = #base.operand<0>, dim = 1, index = #base.operand<1>, src = #base.operand<2>}",
                 "(tensor<4x6xbf16>, tensor<4x6xi64>, tensor<4x6xbf16>) -> tensor<4x6xbf16>")
                .workspaceBytes,
            4 * 24);
  EXPECT_EQ(cost("aten.roll.default", "{self = #base.operand<0>, shifts = [1, 2, 3], dims = [1, 0, 2]}",
                 "(tensor<4x6x2xf32>) -> tensor<4x6x2xf32>")
                .workspaceBytes,
            2 * 4 * 48);
}

/// As PyTorch's profiler counts them besides the result, without tensors of a few bytes.
TEST_F(RecordCost, LossesAndNormsHoldWhatTheyMake) {
  constexpr char pair[] = "{self = #base.operand<0>, target = #base.operand<1>}";
  constexpr char apart[] = "{self = #base.operand<0>, target = #base.operand<1>, reduction = 0 : i64}";
  constexpr char reduced[] = "(tensor<100x6xf32>, tensor<100x6xf32>) -> tensor<f32>";
  constexpr char each[] = "(tensor<100x6xf32>, tensor<100x6xf32>) -> tensor<100x6xf32>";
  auto ofLoss = [&](const char *target, const char *args, const char *types) {
    return cost(target, args, types).workspaceBytes;
  };
  EXPECT_EQ(ofLoss("aten.mse_loss.default", pair, reduced), 2 * 2400);
  EXPECT_EQ(ofLoss("aten.mse_loss.default", apart, each), 0);
  EXPECT_EQ(ofLoss("aten.huber_loss.default", pair, reduced), 2400);
  EXPECT_EQ(ofLoss("aten.l1_loss.default", pair, reduced), 2 * 2400);
  EXPECT_EQ(ofLoss("aten.kl_div.default", pair, reduced), 3 * 2400);
  EXPECT_EQ(ofLoss("aten.kl_div.default", apart, each), 2 * 2400);
  constexpr char affine[] = "{input = #base.operand<0>, weight = #base.operand<1>, bias = #base.operand<2>, "
                            "use_input_stats = true, momentum = 0.1 : f64, eps = 1.0e-05 : f64}";
  EXPECT_EQ(cost("aten.instance_norm.default", affine,
                 "(tensor<4x6x12xf32>, tensor<6xf32>, tensor<6xf32>) -> tensor<4x6x12xf32>")
                .workspaceBytes,
            6 * 96);
  EXPECT_EQ(cost("aten.group_norm.default", "{input = #base.operand<0>, num_groups = 3 : i64}",
                 "(tensor<4x12x6xf32>) -> tensor<4x12x6xf32>")
                .workspaceBytes,
            2 * 48);
  EXPECT_EQ(
      cost("aten.isfinite.default", "{self = #base.operand<0>}", "(tensor<4x6xf32>) -> tensor<4x6xi1>").workspaceBytes,
      96 + 2 * 24);
  EXPECT_EQ(cost("aten.rot90.default", "{self = #base.operand<0>, k = 1 : i64, dims = [1, 2]}",
                 "(tensor<4x6x2xf32>) -> tensor<4x2x6xf32>")
                .workspaceBytes,
            192);
}

TEST_F(RecordCost, SquaresAreAddedUpInDouble) {
  auto workspace = [&](const char *types) {
    return cost("meshplan.square_sum", "{self = #base.operand<0>}", types).workspaceBytes;
  };
  EXPECT_EQ(workspace("(tensor<120xf32>) -> tensor<f32>"), 120 * (4 + 8) + 16);
  EXPECT_EQ(workspace("(tensor<120xbf16>) -> tensor<f32>"), 120 * (4 + 4 + 8) + 16);
  EXPECT_EQ(workspace("(tensor<3000x1000xf32>) -> tensor<f32>"), (1 << 20) * 12 + 16) << "a piece at a time";
}

/// Metered: 505688, 1391448 and 15405832 bytes beside the results.
TEST_F(RecordCost, TheLibraryForLstmLaysWeightsOut) {
  auto workspace = [&](int64_t places, int64_t samples, int64_t inputs, int64_t features) {
    auto tensor = [](std::initializer_list<int64_t> shape) {
      std::string text = "tensor<";
      for (int64_t size : shape)
        text += std::to_string(size) + "x";
      return text + "f32>";
    };
    std::string state = tensor({1, samples, features}), output = tensor({places, samples, features});
    std::string types = "(" + tensor({places, samples, inputs}) + ", " + state + ", " + state + ", " +
                        tensor({4 * features, inputs}) + ", " + tensor({4 * features, features}) + ") -> (" + output +
                        ", " + state + ", " + state + ")";
    return cost("aten.lstm.input",
                "{input = #base.operand<0>, hx = [#base.operand<1>, #base.operand<2>], params = [#base.operand<3>, "
                "#base.operand<4>], has_biases = false}",
                types)
        .workspaceBytes;
  };
  EXPECT_NEAR(workspace(20, 16, 64, 64), 505688, 0.05 * 505688);
  EXPECT_NEAR(workspace(50, 8, 128, 128), 1391448, 0.05 * 1391448);
  EXPECT_NEAR(workspace(100, 32, 128, 256), 15405832, 0.05 * 15405832);
}

TEST_F(RecordCost, DistancesOfManyVectorsAreAProduct) {
  constexpr char args[] = "{x1 = #base.operand<0>, x2 = #base.operand<1>}";
  auto workspace = [&](const char *types) { return cost("aten.cdist.default", args, types).workspaceBytes; };
  EXPECT_EQ(workspace("(tensor<64x96x32xf32>, tensor<64x96x32xf32>) -> tensor<64x96x96xf32>"), 1671168);
  EXPECT_EQ(workspace("(tensor<64x96x32xf32>, tensor<64x8x32xf32>) -> tensor<64x96x8xf32>"), 1478656);
  EXPECT_EQ(workspace("(tensor<64x8x32xf32>, tensor<64x8x32xf32>) -> tensor<64x8x8xf32>"), 0);
}

TEST_F(RecordCost, RecurrentLayersHoldTheGatesOfAllPlaces) {
  constexpr char args[] = "{input = #base.operand<0>, hx = #base.operand<1>, batch_first = true}";
  // Metered: 242688 bytes for gru and 119808 for a plain layer.
  EXPECT_EQ(cost("aten.gru.input", args,
                 "(tensor<16x20x32xf32>, tensor<1x16x48xf32>) -> (tensor<16x20x48xf32>, tensor<1x16x48xf32>)")
                .workspaceBytes,
            184320 + 61440);
  EXPECT_EQ(cost("aten.rnn_tanh.input", args,
                 "(tensor<16x20x32xf32>, tensor<1x16x48xf32>) -> (tensor<16x20x48xf32>, tensor<1x16x48xf32>)")
                .workspaceBytes,
            61440 + 61440);
}

} // namespace
