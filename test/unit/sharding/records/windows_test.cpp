//===- windows_test.cpp - convolutions and pools --------------------------===//
//
// Every expected rule is derived by hand from what the operator computes.
//
//===----------------------------------------------------------------------===//

#include "test/unit/sharding/parsed_call.h"
#include "gmock/gmock.h"

using namespace meshplan;
using testing::ElementsAre;

namespace {

class RecordWindows : public CallTest {
protected:
  std::string conv(llvm::StringRef args, llvm::StringRef types, llvm::StringRef target = "aten.conv2d.default") {
    return rule(target, ("{input = #base.operand<0>, weight = #base.operand<1>" + args + "}").str(), types);
  }

  std::string local(llvm::StringRef target, llvm::StringRef args, llvm::StringRef types) {
    LocalCall call = record(target).localize(parse(target, args, types), plan::MeshOp());
    return call.target + " " + print(call.args);
  }
};

TEST_F(RecordWindows, ConvolutionContractsTheFeaturesOfItsInput) {
  EXPECT_EQ(conv(", bias = #base.operand<2>, padding = [1, 1]",
                 "(tensor<4x6x8x8xf32>, tensor<12x6x3x3xf32>, tensor<12xf32>) -> tensor<4x12x8x8xf32>"),
            "[a, b, c, d], [e, b, f, g], [e] -> [a, e, h, i]; a=4 b=6:sum c=8:whole d=8:whole e=12 f=3:whole "
            "g=3:whole h=8:whole i=8:whole");
}

TEST_F(RecordWindows, PatchesAreDividedAsPatches) {
  EXPECT_EQ(conv(", stride = [4, 2]", "(tensor<2x3x24x12xf32>, tensor<12x3x4x2xf32>) -> tensor<2x12x6x6xf32>"),
            "[a, b, cd, ef], [g, b, h, i] -> [a, g, c, e]; a=2 b=3:sum c=6 d=4:whole e=6 f=2:whole g=12 h=4:whole "
            "i=2:whole");
}

TEST_F(RecordWindows, APointwiseConvolutionPassesItsPlaces) {
  EXPECT_EQ(conv("", "(tensor<2x3x6xf32>, tensor<4x3x1xf32>) -> tensor<2x4x6xf32>", "aten.conv1d.default"),
            "[a, b, c], [d, b, 1] -> [a, d, c]; a=2 b=3:sum c=6 d=4");
}

TEST_F(RecordWindows, OneSampleHasNoBatch) {
  EXPECT_EQ(conv("", "(tensor<6x8xf32>, tensor<4x6x3xf32>) -> tensor<4x6xf32>", "aten.conv1d.default"),
            "[a, b], [c, a, d] -> [c, e]; a=6:sum b=8:whole c=4 d=3:whole e=6:whole");
}

TEST_F(RecordWindows, GroupsAreDividedAndSoAreTheFeaturesOfEach) {
  EXPECT_EQ(
      conv(", groups = 6", "(tensor<2x6x8xf32>, tensor<12x1x3xf32>) -> tensor<2x12x6xf32>", "aten.conv1d.default"),
      "[a, b, c], [bd, 1, e] -> [a, bd, f]; a=2 b=6 c=8:whole d=2 e=3:whole f=6:whole");
  EXPECT_EQ(conv(", groups = 2", "(tensor<2x6x8xf32>, tensor<4x3x3xf32>) -> tensor<2x4x6xf32>", "aten.conv1d.default"),
            "[a, bc, d], [be, c, f] -> [a, be, g]; a=2 b=2 c=3:sum d=8:whole e=2 f=3:whole g=6:whole");
  EXPECT_EQ(conv(", groups = 2", "(tensor<2x6x8xf32>, tensor<6x4x3xf32>) -> tensor<2x8x10xf32>",
                 "aten.conv_transpose1d.default"),
            "[a, bc, d], [bc, e, f] -> [a, be, g]; a=2 b=2 c=3:whole d=8:whole e=4 f=3:whole g=10:whole")
      << "the weight does not tell the input features of a group";
  EXPECT_EQ(conv(", groups = 4", "(tensor<2x6x8xf32>, tensor<4x3x3xf32>) -> tensor<2x4x6xf32>", "aten.conv1d.default"),
            "[a, b, c], [d, e, f] -> [a, g, h]; a=2 b=6:whole c=8:whole d=4:whole e=3:whole f=3:whole g=4:whole "
            "h=6:whole")
      << "no whole features of each";
}

TEST_F(RecordWindows, ARankHasItsGroupsOnly) {
  constexpr char args[] = "{input = #base.operand<0>, weight = #base.operand<1>, groups = 6, padding = [1]}";
  EXPECT_EQ(local("aten.conv1d.default", args,
                  R"((tensor<2x12x8xf32, #plan.sharding<[{}, {"tp"}, {}]>>,
                      tensor<18x2x3xf32, #plan.sharding<[{"tp"}, {}, {}]>>)
                     -> tensor<2x18x8xf32, #plan.sharding<[{}, {"tp"}, {}]>>)"),
            "meshplan.grouped_convolution {dilation = [1], input = #base.operand<0>, padding = [1], stride = [1], "
            "weight = #base.operand<1>}");
  EXPECT_EQ(local("aten.conv_transpose1d.default",
                  "{input = #base.operand<0>, weight = #base.operand<1>, groups = 6, stride = [2], "
                  "output_padding = [1]}",
                  R"((tensor<2x12x8xf32, #plan.sharding<[{}, {"tp"}, {}]>>,
                      tensor<12x3x3xf32, #plan.sharding<[{"tp"}, {}, {}]>>)
                     -> tensor<2x18x18xf32, #plan.sharding<[{}, {"tp"}, {}]>>)"),
            "meshplan.grouped_convolution {dilation = [1], group_inputs = 2 : i64, input = #base.operand<0>, "
            "output_padding = [1], padding = [0], stride = [2], transposed = true, weight = #base.operand<1>}");
  EXPECT_EQ(local("aten.conv1d.padding",
                  "{input = #base.operand<0>, weight = #base.operand<1>, groups = 6, padding = \"same\"}",
                  R"((tensor<2x12x8xf32, #plan.sharding<[{}, {"tp"}, {}]>>,
                      tensor<18x2x3xf32, #plan.sharding<[{"tp"}, {}, {}]>>)
                     -> tensor<2x18x8xf32, #plan.sharding<[{}, {"tp"}, {}]>>)"),
            "meshplan.grouped_convolution {dilation = [1], input = #base.operand<0>, mode = \"same\", stride = [1], "
            "weight = #base.operand<1>}");
}

TEST_F(RecordWindows, TransposedConvolutionsHaveTheirFeaturesTurned) {
  EXPECT_EQ(conv("", "(tensor<2x6x8xf32>, tensor<6x4x2xf32>) -> tensor<2x4x9xf32>", "aten.conv_transpose1d.default"),
            "[a, b, c], [b, d, e] -> [a, d, f]; a=2 b=6:sum c=8:whole d=4 e=2:whole f=9:whole");
}

TEST_F(RecordWindows, ABiasIsAddedOverItsFeatures) {
  std::optional<AddendSplit> split =
      record("aten.conv2d.default")
          .splitAddend(parse("aten.conv2d.default",
                             "{input = #base.operand<0>, weight = #base.operand<1>, bias = #base.operand<2>}",
                             "(tensor<4x6x8x8xf32>, tensor<12x6x1x1xf32>, tensor<12xf32>) -> tensor<4x12x8x8xf32>"));
  ASSERT_TRUE(split);
  EXPECT_EQ(split->addend, 2u);
  EXPECT_THAT(split->shape, ElementsAre(12, 1, 1));
  EXPECT_THAT(split->call.operands, ElementsAre(0, 1));
}

TEST_F(RecordWindows, PoolsPassWhatIsNotPooled) {
  EXPECT_EQ(rule("aten.max_pool2d.default",
                 "{self = #base.operand<0>, kernel_size = [3, 3], stride = [2, 2], padding = [1, 1]}",
                 "(tensor<4x6x8x8xf32>) -> tensor<4x6x4x4xf32>"),
            "[a, b, c, d] -> [a, b, e, f]; a=4 b=6 c=8:whole d=8:whole e=4:whole f=4:whole");
}

TEST_F(RecordWindows, PoolsWithoutStrideFollowEachOther) {
  EXPECT_EQ(rule("aten.avg_pool1d.default", "{self = #base.operand<0>, kernel_size = [2]}",
                 "(tensor<4x6x8xf32>) -> tensor<4x6x4xf32>"),
            "[a, b, cd] -> [a, b, c]; a=4 b=6 c=4 d=2:whole");
}

TEST_F(RecordWindows, AdaptivePoolsOfEqualWindows) {
  EXPECT_EQ(rule("aten.adaptive_avg_pool2d.default", "{self = #base.operand<0>, output_size = [4, 3]}",
                 "(tensor<2x6x8x7xf32>) -> tensor<2x6x4x3xf32>"),
            "[a, b, cd, e] -> [a, b, c, f]; a=2 b=6 c=4 d=2:whole e=7:whole f=3:whole");
  EXPECT_EQ(local("aten.adaptive_avg_pool2d.default", "{self = #base.operand<0>, output_size = [4, 3]}",
                  R"((tensor<2x6x8x7xf32, #plan.sharding<[{}, {}, {"tp"}, {}]>>)
                     -> tensor<2x6x4x3xf32, #plan.sharding<[{}, {}, {"tp"}, {}]>>)"),
            "aten.adaptive_avg_pool2d.default {output_size = [#base.local<0, result 0, dim 2, extent 1>, 3], "
            "self = #base.operand<0>}");
}

TEST_F(RecordWindows, PositionsInAPooledDimKeepItWhole) {
  EXPECT_EQ(rule("aten.max_pool2d_with_indices.default", "{self = #base.operand<0>, kernel_size = [2, 2]}",
                 "(tensor<4x6x8x8xf32>) -> (tensor<4x6x4x4xf32>, tensor<4x6x4x4xi64>)"),
            "[a, b, c, d] -> [a, b, e, f], [a, b, g, h]; a=4 b=6 c=8:whole d=8:whole e=4:whole f=4:whole g=4:whole "
            "h=4:whole");
}

TEST_F(RecordWindows, UpsamplingPassesSamplesAndFeatures) {
  EXPECT_EQ(rule("aten.upsample_bilinear2d.vec",
                 "{input = #base.operand<0>, output_size = [8, 8], align_corners = false}",
                 "(tensor<4x6x5x3xf32>) -> tensor<4x6x8x8xf32>"),
            "[a, b, c, d] -> [a, b, e, f]; a=4 b=6 c=5:whole d=3:whole e=8:whole f=8:whole");
}

} // namespace
