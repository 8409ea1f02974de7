//===- rules_test.cpp - factor rules of records ---------------------------===//
//
// Every expected rule is derived by hand from what the operator computes.
//
//===----------------------------------------------------------------------===//

#include "test/unit/sharding/parsed_call.h"

using namespace meshplan;

namespace {

using RecordRules = CallTest;

TEST_F(RecordRules, ElementwiseAlignsAtTheLastDim) {
  EXPECT_EQ(rule("aten.mul.Tensor", binary, "(tensor<2x9x96x64xf32>, tensor<96x64xf32>) -> tensor<2x9x96x64xf32>"),
            "[a, b, c, d], [c, d] -> [a, b, c, d]; a=2 b=9 c=96 d=64");
}

TEST_F(RecordRules, ElementwiseBroadcastsDimsOfSizeOne) {
  EXPECT_EQ(rule("aten.add.Tensor", binary, "(tensor<4x1x6xf32>, tensor<12x1xf32>) -> tensor<4x12x6xf32>"),
            "[a, 1, b], [c, 1] -> [a, c, b]; a=4 b=6 c=12");
}

TEST_F(RecordRules, AnOperandTwiceIsOneTensor) {
  EXPECT_EQ(rule("aten.mul.Tensor", "{self = #base.operand<0>, other = #base.operand<0>}",
                 "(tensor<4x6xf32>) -> tensor<4x6xf32>"),
            "[a, b] -> [a, b]; a=4 b=6");
}

TEST_F(RecordRules, LinearContractsTheInputFeatures) {
  constexpr char types[] = "(tensor<4x96x576xf32>, tensor<1536x576xf32>) -> tensor<4x96x1536xf32>";
  EXPECT_EQ(rule("aten.linear.default", "{input = #base.operand<0>, weight = #base.operand<1>}", types),
            "[a, b, c], [d, c] -> [a, b, d]; a=4 b=96 c=576:sum d=1536");
}

TEST_F(RecordRules, LinearBiasGoesWithTheOutputFeatures) {
  EXPECT_EQ(rule("aten.linear.default",
                 "{input = #base.operand<0>, weight = #base.operand<1>, bias = #base.operand<2>}",
                 "(tensor<4x12xf32>, tensor<6x12xf32>, tensor<6xf32>) -> tensor<4x6xf32>"),
            "[a, b], [c, b], [c] -> [a, c]; a=4 b=12:sum c=6");
}

TEST_F(RecordRules, MatmulBroadcastsItsBatch) {
  EXPECT_EQ(rule("aten.matmul.default", binary, "(tensor<4x1x2x12xf32>, tensor<6x12x8xf32>) -> tensor<4x6x2x8xf32>"),
            "[a, 1, b, c], [d, c, e] -> [a, d, b, e]; a=4 b=2 c=12:sum d=6 e=8");
}

TEST_F(RecordRules, MatmulOfVectors) {
  EXPECT_EQ(rule("aten.matmul.default", binary, "(tensor<12xf32>, tensor<6x12x4xf32>) -> tensor<6x4xf32>"),
            "[a], [b, a, c] -> [b, c]; a=12:sum b=6 c=4");
  EXPECT_EQ(rule("aten.matmul.default", binary, "(tensor<6x4x12xf32>, tensor<12xf32>) -> tensor<6x4xf32>"),
            "[a, b, c], [c] -> [a, b]; a=6 b=4 c=12:sum");
  EXPECT_EQ(rule("aten.matmul.default", binary, "(tensor<12xf32>, tensor<12xf32>) -> tensor<f32>"),
            "[a], [a] -> []; a=12:sum");
}

TEST_F(RecordRules, AddmmBroadcastsWhatItAdds) {
  EXPECT_EQ(rule("aten.addmm.default", "{self = #base.operand<0>, mat1 = #base.operand<1>, mat2 = #base.operand<2>}",
                 "(tensor<6xf32>, tensor<4x12xf32>, tensor<12x6xf32>) -> tensor<4x6xf32>"),
            "[a], [b, c], [c, a] -> [b, a]; a=6 b=4 c=12:sum");
}

TEST_F(RecordRules, AScaledAddendKeepsTheContractionWhole) {
  constexpr char types[] = "(tensor<4x6xf32>, tensor<4x12xf32>, tensor<12x6xf32>) -> tensor<4x6xf32>";
  auto scaled = [&](llvm::StringRef scale) {
    return rule("aten.addmm.default",
                "{self = #base.operand<0>, mat1 = #base.operand<1>, mat2 = #base.operand<2>, " + scale.str() + "}",
                types);
  };
  EXPECT_EQ(scaled("beta = 0.5"), "[a, b], [a, c], [c, b] -> [a, b]; a=4 b=6 c=12:whole");
  EXPECT_EQ(scaled("beta = 0.0, alpha = 2.0"), "[a, b], [a, c], [c, b] -> [a, b]; a=4 b=6 c=12:sum");
}

TEST_F(RecordRules, LettersOfAnEinsumAreFactors) {
  auto einsum = [&](llvm::StringRef equation) {
    return rule("aten.einsum.default",
                ("{equation = \"" + equation + "\", tensors = [#base.operand<0>, #base.operand<1>]}").str(),
                "(tensor<2x6xf32>, tensor<6x4xf32>) -> tensor<2x4xf32>");
  };
  EXPECT_EQ(einsum("ij,jk->ik"), "[a, b], [b, c] -> [a, c]; a=2 b=6:sum c=4");
  EXPECT_EQ(einsum("ij, jk"), "[a, b], [b, c] -> [a, c]; a=2 b=6:sum c=4");
  EXPECT_EQ(einsum("...j,jk->...k"), "[a, b], [c, d] -> [e, f]; a=2:whole b=6:whole c=6:whole d=4:whole "
                                     "e=2:whole f=4:whole");
}

TEST_F(RecordRules, ViewSplitsHeads) {
  EXPECT_EQ(rule("aten.view.default", "{self = #base.operand<0>, size = [2, 96, -1, 64]}",
                 "(tensor<2x96x576xf32>) -> tensor<2x96x9x64xf32>"),
            "[a, b, cd] -> [a, b, c, d]; a=2 b=96 c=9 d=64");
}

TEST_F(RecordRules, ReshapeMergesRepeatedHeads) {
  EXPECT_EQ(rule("aten.reshape.default", "{self = #base.operand<0>, shape = [2, 9, 96, 64]}",
                 "(tensor<2x3x3x96x64xf32>) -> tensor<2x9x96x64xf32>"),
            "[a, b, c, d, e] -> [a, bc, d, e]; a=2 b=3 c=3 d=96 e=64");
}

TEST_F(RecordRules, ViewFlattensTheBatch) {
  EXPECT_EQ(rule("aten.view.default", "{self = #base.operand<0>, size = [-1, 12]}",
                 "(tensor<4x6x12xf32>) -> tensor<24x12xf32>"),
            "[a, b, c] -> [ab, c]; a=4 b=6 c=12");
}

TEST_F(RecordRules, ReshapeSharesCommonDivisors) {
  // 6 and 4 share the major 2; after it, 3 x 4 and 2 x 6 share nothing at the start.
  EXPECT_EQ(
      rule("aten.reshape.default", "{self = #base.operand<0>, shape = [4, 6]}", "(tensor<6x4xf32>) -> tensor<4x6xf32>"),
      "[ab, c] -> [ad, e]; a=2 b=3:whole c=4:whole d=2:whole e=6:whole");
}

TEST_F(RecordRules, ReshapeOfCoprimeSizesLeavesTheRest) {
  EXPECT_EQ(rule("aten.reshape.default", "{self = #base.operand<0>, shape = [2, 3, 12]}",
                 "(tensor<3x2x12xf32>) -> tensor<2x3x12xf32>"),
            "[a, b, c] -> [d, e, c]; a=3:whole b=2:whole c=12 d=2:whole e=3:whole");
}

TEST_F(RecordRules, ReshapeIgnoresDimsOfSizeOne) {
  EXPECT_EQ(rule("aten.view.default", "{self = #base.operand<0>, size = [6, 12, 1]}",
                 "(tensor<1x6x1x12xf32>) -> tensor<6x12x1xf32>"),
            "[1, a, 1, b] -> [a, b, 1]; a=6 b=12");
}

TEST_F(RecordRules, ReshapeOfNothingIsWhole) {
  EXPECT_EQ(
      rule("aten.view.default", "{self = #base.operand<0>, size = [0, 4]}", "(tensor<4x0xf32>) -> tensor<0x4xf32>"),
      "[a, b] -> [c, d]; a=4:whole b=0:whole c=0:whole d=4:whole");
}

TEST_F(RecordRules, DimOrders) {
  EXPECT_EQ(rule("aten.transpose.int", "{self = #base.operand<0>, dim0 = 1, dim1 = -2}",
                 "(tensor<2x4x6x8xf32>) -> tensor<2x6x4x8xf32>"),
            "[a, b, c, d] -> [a, c, b, d]; a=2 b=4 c=6 d=8");
  EXPECT_EQ(rule("aten.permute.default", "{self = #base.operand<0>, dims = [0, 2, -1, 1]}",
                 "(tensor<2x4x6x8xf32>) -> tensor<2x6x8x4xf32>"),
            "[a, b, c, d] -> [a, c, d, b]; a=2 b=4 c=6 d=8");
  EXPECT_EQ(rule("aten.t.default", unary, "(tensor<4x6xf32>) -> tensor<6x4xf32>"), "[a, b] -> [b, a]; a=4 b=6");
  EXPECT_EQ(
      rule("aten.unsqueeze.default", "{self = #base.operand<0>, dim = 1}", "(tensor<4x6xf32>) -> tensor<4x1x6xf32>"),
      "[a, b] -> [a, 1, b]; a=4 b=6");
  EXPECT_EQ(rule("aten.squeeze.dim", "{self = #base.operand<0>, dim = 1}", "(tensor<4x1x6xf32>) -> tensor<4x6xf32>"),
            "[a, 1, b] -> [a, b]; a=4 b=6");
}

TEST_F(RecordRules, ExpandMakesNewFactors) {
  EXPECT_EQ(rule("aten.expand.default", "{self = #base.operand<0>, size = [5, 2, 3, 4, 6]}",
                 "(tensor<2x3x1x6xf32>) -> tensor<5x2x3x4x6xf32>"),
            "[a, b, 1, c] -> [d, a, b, e, c]; a=2 b=3 c=6 d=5 e=4");
}

TEST_F(RecordRules, SliceHoldsTheDimThatItCuts) {
  EXPECT_EQ(rule("aten.slice.Tensor", "{self = #base.operand<0>, dim = 1, start = 2, end = 8}",
                 "(tensor<4x12x6xf32>) -> tensor<4x6x6xf32>"),
            "[a, b, c] -> [a, d, c]; a=4 b=12:whole c=6 d=6:whole");
  EXPECT_EQ(rule("aten.slice.Tensor", "{self = #base.operand<0>, dim = 1, start = 0, end = 9223372036854775807}",
                 "(tensor<4x12xf32>) -> tensor<4x12xf32>"),
            "[a, b] -> [a, b]; a=4 b=12");
}

TEST_F(RecordRules, SplitsKnowThePartsThatTheyMake) {
  EXPECT_EQ(rule("aten.chunk.default", "{self = #base.operand<0>, chunks = 2, dim = -1}",
                 "(tensor<4x12xf32>) -> (tensor<4x6xf32>, tensor<4x6xf32>)"),
            "[a, b|c] -> [a, b], [a, c]; a=4 b=6 c=6");
  // Even a single piece has a size that a shard does not have.
  EXPECT_EQ(rule("aten.split_with_sizes.default", "{self = #base.operand<0>, split_sizes = [12], dim = 1}",
                 "(tensor<4x12xf32>) -> tensor<4x12xf32>"),
            "[a, b] -> [a, b]; a=4 b=12");
  EXPECT_EQ(rule("aten.select.int", "{self = #base.operand<0>, dim = 1, index = 3}",
                 "(tensor<4x12x6xf32>) -> tensor<4x6xf32>"),
            "[a, b, c] -> [a, c]; a=4 b=12:whole c=6");
}

TEST_F(RecordRules, JoiningKnowsTheJoinedParts) {
  EXPECT_EQ(rule("aten.cat.default", "{tensors = [#base.operand<0>, #base.operand<1>], dim = -1}",
                 "(tensor<4x6xf32>, tensor<4x2xf32>) -> tensor<4x8xf32>"),
            "[a, b], [a, c] -> [a, b|c]; a=4 b=6 c=2");
  EXPECT_EQ(rule("aten.stack.default", "{tensors = [#base.operand<0>, #base.operand<1>], dim = 1}",
                 "(tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x2x6xf32>"),
            "[a, b], [a, b] -> [a, c, b]; a=4 b=6 c=2:whole");
}

TEST_F(RecordRules, PiecesWithoutElementsAreNoParts) {
  EXPECT_EQ(rule("aten.cat.default", "{tensors = [#base.operand<0>, #base.operand<1>], dim = -1}",
                 "(tensor<4x6xf32>, tensor<4x0xf32>) -> tensor<4x6xf32>"),
            "[a, b], [a, c] -> [a, b]; a=4 b=6 c=0:whole");
  EXPECT_EQ(rule("aten.split_with_sizes.default", "{self = #base.operand<0>, split_sizes = [2, 0, 4], dim = 1}",
                 "(tensor<4x6xf32>) -> (tensor<4x2xf32>, tensor<4x0xf32>, tensor<4x4xf32>)"),
            "[a, b|c] -> [a, b], [a, d], [a, c]; a=4 b=2 c=4 d=0:whole");
}

TEST_F(RecordRules, PadHoldsOnlyThePaddedDims) {
  EXPECT_EQ(rule("aten.pad.default", "{self = #base.operand<0>, pad = [0, 0, 1, 2]}",
                 "(tensor<4x6x12xf32>) -> tensor<4x9x12xf32>"),
            "[a, b, c] -> [a, d, c]; a=4 b=6:whole c=12 d=9:whole");
  EXPECT_EQ(rule("aten.pad.default", "{self = #base.operand<0>, pad = [1, 0], mode = \"reflect\"}",
                 "(tensor<4x6xf32>) -> tensor<4x7xf32>"),
            "[a, b] -> [a, c]; a=4 b=6:whole c=7:whole");
  EXPECT_EQ(rule("aten.reflection_pad2d.default", "{self = #base.operand<0>, padding = [1, 0, 0, 0]}",
                 "(tensor<4x6x5xf32>) -> tensor<4x6x6xf32>"),
            "[a, b, c] -> [a, d, e]; a=4 b=6:whole c=5:whole d=6:whole e=6:whole");
}

TEST_F(RecordRules, Reductions) {
  EXPECT_EQ(rule("aten.sum.dim_IntList", "{self = #base.operand<0>, dim = [0, -1], keepdim = true}",
                 "(tensor<2x6x12xf32>) -> tensor<1x6x1xf32>"),
            "[a, b, c] -> [1, b, 1]; a=2:sum b=6 c=12:sum");
  EXPECT_EQ(rule("aten.sum.default", unary, "(tensor<4x6xf32>) -> tensor<f32>"), "[a, b] -> []; a=4:sum b=6:sum");
  EXPECT_EQ(rule("aten.amax.default", "{self = #base.operand<0>, dim = [-1]}", "(tensor<4x6xf32>) -> tensor<4xf32>"),
            "[a, b] -> [a]; a=4 b=6:max");
  EXPECT_EQ(
      rule("aten.max.dim", "{self = #base.operand<0>, dim = 0}", "(tensor<4x6xf32>) -> (tensor<6xf32>, tensor<6xi64>)"),
      "[a, b] -> [b], [b]; a=4:whole b=6");
}

TEST_F(RecordRules, MeansAreSumsOverAFixedNumber) {
  EXPECT_EQ(rule("aten.mean.dim", "{self = #base.operand<0>, dim = [-1], keepdim = true}",
                 "(tensor<4x96x576xf32>) -> tensor<4x96x1xf32>"),
            "[a, b, c] -> [a, b, 1]; a=4 b=96 c=576:sum");
}

TEST_F(RecordRules, NormsAndSoftmaxHoldWhatTheyNormalize) {
  EXPECT_EQ(rule("aten._softmax.default", "{self = #base.operand<0>, dim = 1, half_to_float = false}",
                 "(tensor<4x6x2xf32>) -> tensor<4x6x2xf32>"),
            "[a, b, c] -> [a, d, c]; a=4 b=6:whole c=2 d=6:whole");
  EXPECT_EQ(rule("aten.native_layer_norm.default",
                 "{input = #base.operand<0>, normalized_shape = [12], weight = #base.operand<1>, eps = 1.0e-5}",
                 "(tensor<4x6x12xf32>, tensor<12xf32>) -> (tensor<4x6x12xf32>, tensor<4x6x1xf32>, tensor<4x6x1xf32>)"),
            "[a, b, c], [d] -> [a, b, e], [a, b, 1], [a, b, 1]; a=4 b=6 c=12:whole d=12:whole e=12:whole");
}

TEST_F(RecordRules, EmbeddingSumsOverTheVocabulary) {
  EXPECT_EQ(rule("aten.embedding.default", "{weight = #base.operand<0>, indices = #base.operand<1>}",
                 "(tensor<49152x576xf32>, tensor<4x96xi64>) -> tensor<4x96x576xf32>"),
            "[a, b], [c, d] -> [c, d, b]; a=49152:sum b=576 c=4 d=96");
}

TEST_F(RecordRules, GatherPassesDimsThatTheIndexCovers) {
  EXPECT_EQ(rule("aten.gather.default", "{self = #base.operand<0>, dim = -1, index = #base.operand<1>}",
                 "(tensor<4x12xf32>, tensor<4x6xi64>) -> tensor<4x6xf32>"),
            "[a, b], [a, c] -> [a, c]; a=4 b=12:whole c=6");
  EXPECT_EQ(rule("aten.gather.default", "{self = #base.operand<0>, dim = 1, index = #base.operand<1>}",
                 "(tensor<6x12xf32>, tensor<4x8xi64>) -> tensor<4x8xf32>"),
            "[a, b], [c, d] -> [e, d]; a=6:whole b=12:whole c=4:whole d=8 e=4:whole");
}

TEST_F(RecordRules, IndexPutsItsIndicesWhereTheyStand) {
  EXPECT_EQ(rule("aten.index.Tensor", "{self = #base.operand<0>, indices = [unit, #base.operand<1>]}",
                 "(tensor<4x12x6xf32>, tensor<2x8xi64>) -> tensor<4x2x8x6xf32>"),
            "[a, b, c], [d, e] -> [a, d, e, c]; a=4 b=12:whole c=6 d=2 e=8");
}

TEST_F(RecordRules, IndicesApartStandInFront) {
  EXPECT_EQ(rule("aten.index.Tensor", "{self = #base.operand<0>, indices = [#base.operand<1>, unit, #base.operand<2>]}",
                 "(tensor<4x6x12xf32>, tensor<8xi64>, tensor<2x1xi64>) -> tensor<2x8x6xf32>"),
            "[a, b, c], [d], [e, 1] -> [e, d, b]; a=4:whole b=6 c=12:whole d=8 e=2");
}

TEST_F(RecordRules, BooleanIndicesAreWhole) {
  EXPECT_EQ(rule("aten.index.Tensor", "{self = #base.operand<0>, indices = [#base.operand<1>]}",
                 "(tensor<4x6xf32>, tensor<4xi1>) -> tensor<3x6xf32>"),
            "[a, b], [c] -> [d, e]; a=4:whole b=6:whole c=4:whole d=3:whole e=6:whole");
}

TEST_F(RecordRules, CreationsDivideTheirResult) {
  EXPECT_EQ(rule("aten.arange.default", "{end = 12}", "() -> tensor<12xi64>"), "-> [a]; a=12");
  EXPECT_EQ(rule("aten.arange.default", "{end = 12.0}", "() -> tensor<12xf32>"), "-> [a]; a=12:whole");
  EXPECT_EQ(rule("aten.ones.default", "{size = [4, 1]}", "() -> tensor<4x1xf32>"), "-> [a, 1]; a=4");
  EXPECT_EQ(rule("aten.zeros_like.default", unary, "(tensor<4x6xf32>) -> tensor<4x6xf32>"),
            "[a, b] -> [a, b]; a=4 b=6");
}

TEST_F(RecordRules, HeadsOfAttentionShareKeys) {
  EXPECT_EQ(rule("meshplan.attention",
                 "{query = #base.operand<0>, key = #base.operand<1>, value = #base.operand<2>, causal = true}",
                 "(tensor<2x9x8x64xf32>, tensor<2x3x8x64xf32>, tensor<2x3x8x64xf32>) "
                 "-> (tensor<2x9x8x64xf32>, tensor<2x9x8xf32>)"),
            "[a, b, c, d], [a, b/3, e, f], [a, b/3, g, h] -> [a, b, i, j], [a, b, k]; "
            "a=2 b=9 c=8:whole d=64:whole e=8:whole f=64:whole g=8:whole h=64:whole i=8:whole j=64:whole k=8:whole");
}

TEST_F(RecordRules, AttentionMasksFollowBatchAndHeads) {
  constexpr char args[] = "{query = #base.operand<0>, key = #base.operand<1>, value = #base.operand<2>, "
                          "mask = #base.operand<3>, key_mask = #base.operand<4>}";
  EXPECT_EQ(rule("meshplan.attention", args,
                 "(tensor<2x6x1x1xf32>, tensor<2x1x1x1xf32>, tensor<2x1x1x1xf32>, tensor<1x6x1x1xf32>, tensor<2x1xi1>) "
                 "-> (tensor<2x6x1x1xf32>, tensor<2x6x1xf32>)"),
            "[a, b, 1, 1], [a, 1, 1, 1], [a, 1, 1, 1], [1, b, 1, 1], [a, 1] -> [a, b, 1, 1], [a, b, 1]; a=2 b=6");
}

TEST_F(RecordRules, RandomDropoutIsWhole) {
  EXPECT_EQ(rule("aten.dropout.default", "{input = #base.operand<0>, p = 0.1, train = true}",
                 "(tensor<4xf32>) -> tensor<4xf32>"),
            "[a] -> [b]; a=4:whole b=4:whole");
  EXPECT_EQ(rule("aten.dropout.default", "{input = #base.operand<0>, p = 0.1, train = false}",
                 "(tensor<4xf32>) -> tensor<4xf32>"),
            "[a] -> [a]; a=4");
}

TEST_F(RecordRules, FunctionsOfMatricesDivideTheirNumber) {
  EXPECT_EQ(rule("aten.linalg_det.default", "{A = #base.operand<0>}", "(tensor<4x6x3x3xf32>) -> tensor<4x6xf32>"),
            "[a, b, c, d] -> [a, b]; a=4 b=6 c=3:whole d=3:whole");
  for (const char *target : {"aten.inverse.default", "aten.linalg_cholesky.default"})
    EXPECT_EQ(rule(target, unary, "(tensor<4x3x3xf32>) -> tensor<4x3x3xf32>"),
              "[a, b, c] -> [a, d, e]; a=4 b=3:whole c=3:whole d=3:whole e=3:whole")
        << target;
  EXPECT_EQ(rule("aten.det.default", unary, "(tensor<3x3xf32>) -> tensor<f32>"), "[a, b] -> []; a=3:whole b=3:whole");
  EXPECT_EQ(rule("aten.trace.default", unary, "(tensor<3x4xf32>) -> tensor<f32>"), "[a, b] -> []; a=3:whole b=4:whole");
}

TEST_F(RecordRules, IsinReadsAllTestElements) {
  EXPECT_EQ(rule("aten.isin.Tensor_Tensor", "{elements = #base.operand<0>, test_elements = #base.operand<1>}",
                 "(tensor<4x6xi64>, tensor<4x6xi64>) -> tensor<4x6xi1>"),
            "[a, b], [c, d] -> [a, b]; a=4 b=6 c=4:whole d=6:whole");
  EXPECT_EQ(rule("aten.isin.Tensor_Scalar", "{elements = #base.operand<0>, test_element = 3}",
                 "(tensor<4x6xi64>) -> tensor<4x6xi1>"),
            "[a, b] -> [a, b]; a=4 b=6");
}

TEST_F(RecordRules, NanMeanIsNoSum) {
  EXPECT_EQ(
      rule("aten.nanmean.default", "{self = #base.operand<0>, dim = [1 : i64]}", "(tensor<4x6xf32>) -> tensor<4xf32>"),
      "[a, b] -> [a]; a=4 b=6:whole");
}

TEST_F(RecordRules, LossKernelsReduceTheVocabulary) {
  EXPECT_EQ(rule("meshplan.row_max", "{input = #base.operand<0>}", "(tensor<6x12xf32>) -> tensor<6xf32>"),
            "[a, b] -> [a]; a=6 b=12:max");
  EXPECT_EQ(rule("meshplan.row_pick", "{input = #base.operand<0>, target = #base.operand<1>}",
                 "(tensor<6x12xf32>, tensor<6xi64>) -> tensor<6xf32>"),
            "[a, b], [a] -> [a]; a=6 b=12:sum");
  EXPECT_EQ(rule("meshplan.row_sum_log_softmax",
                 "{input = #base.operand<0>, max = #base.operand<1>, sum_exp = #base.operand<2>, "
                 "weight = #base.operand<3>}",
                 "(tensor<12x12xf32>, tensor<12xf32>, tensor<12xf32>, tensor<12xf32>) -> tensor<12xf32>"),
            "[a, b], [a], [a], [b] -> [a]; a=12 b=12:sum")
      << "weights go with the columns, also where there are as many rows";
  EXPECT_EQ(rule("meshplan.class_weight", "{weight = #base.operand<0>, target = #base.operand<1>, ignore_index = -100}",
                 "(tensor<12xf32>, tensor<12xi64>) -> tensor<12xf32>"),
            "[a], [b] -> [b]; a=12:whole b=12");
  EXPECT_EQ(rule("meshplan.count_tokens", "{target = #base.operand<0>, ignore_index = -100, dtype = f32}",
                 "(tensor<6xi64>) -> tensor<f32>"),
            "[a] -> []; a=6:sum");
}

TEST_F(RecordRules, OneTensorMayBeBothStatesOfACell) {
  EXPECT_EQ(rule("aten.lstm_cell.default",
                 "{input = #base.operand<0>, hx = [#base.operand<1>, #base.operand<1>], w_ih = #base.operand<2>, "
                 "w_hh = #base.operand<3>}",
                 "(tensor<6x3xf32>, tensor<6x4xf32>, tensor<16x3xf32>, tensor<16x4xf32>) -> (tensor<6x4xf32>, "
                 "tensor<6x4xf32>)"),
            "[a, b], [a, c], [d, e], [f, g] -> [a, h], [a, i]; a=6 b=3:whole c=4:whole d=16:whole e=3:whole "
            "f=16:whole g=4:whole h=4:whole i=4:whole");
}

TEST_F(RecordRules, ACallThatDoesNotFitItsSchemaIsWhole) {
  // The same tensor for both operands: the rule would have its factors twice.
  CallView call = parse("aten.linear.default", "{input = #base.operand<0>, weight = #base.operand<0>}",
                        "(tensor<4x6xf32>) -> tensor<4x4xf32>");
  OpRecord linear = record("aten.linear.default");
  EXPECT_EQ(describe(factorRuleOf(call, &linear)), "[a, b] -> [c, d]; a=4:whole b=6:whole c=4:whole d=4:whole");
  CallView empty = parse("aten.linear.default", "{}", "() -> tensor<4xf32>");
  EXPECT_EQ(describe(factorRuleOf(empty, &linear)), "-> [a]; a=4:whole");
}

TEST_F(RecordRules, WithoutRecordEverythingIsWhole) {
  CallView call = parse("custom.op.default", unary, "(tensor<4x1xf32>) -> tensor<4xf32>");
  EXPECT_EQ(OpRegistry::get().lookup("custom.op.default"), nullptr);
  EXPECT_EQ(describe(factorRuleOf(call, nullptr)), "[a, 1] -> [b]; a=4:whole b=4:whole");
}

} // namespace
