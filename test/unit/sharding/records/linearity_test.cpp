//===- linearity_test.cpp - operands that may be partial ------------------===//

#include "test/unit/sharding/parsed_call.h"

using namespace meshplan;

namespace {

class RecordLinearity : public CallTest {
protected:
  std::string linearity(llvm::StringRef target, llvm::StringRef args, llvm::StringRef types) {
    return describe(record(target).linearity(parse(target, args, types)));
  }
};

constexpr char twoVectors[] = "(tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>";
constexpr char oneVector[] = "(tensor<4xf32>) -> tensor<4xf32>";

TEST_F(RecordLinearity, SumsAreLinearJointly) {
  EXPECT_EQ(linearity("aten.add.Tensor", binary, twoVectors), "{0, 1}");
  EXPECT_EQ(linearity("aten.sub.Tensor", binary, twoVectors), "{0, 1}");
  EXPECT_EQ(linearity("aten.add.Tensor", "{self = #base.operand<0>, other = 1.0}", oneVector), "");
  EXPECT_EQ(linearity("aten.add.Scalar", "{self = #base.operand<0>, other = 1.0}", oneVector), "");
}

TEST_F(RecordLinearity, ProductsAreLinearInEachFactor) {
  EXPECT_EQ(linearity("aten.mul.Tensor", binary, twoVectors), "{0} {1}");
  EXPECT_EQ(linearity("aten.mul.Tensor", "{self = #base.operand<0>, other = 2.0}", oneVector), "{0}");
  EXPECT_EQ(linearity("aten.mul.Scalar", "{self = #base.operand<0>, other = 2.0}", oneVector), "{0}");
}

TEST_F(RecordLinearity, ASquareIsNotLinear) {
  EXPECT_EQ(linearity("aten.mul.Tensor", "{self = #base.operand<0>, other = #base.operand<0>}", oneVector), "");
  EXPECT_EQ(linearity("aten.add.Tensor", "{self = #base.operand<0>, other = #base.operand<0>}", oneVector), "{0}");
}

TEST_F(RecordLinearity, AMaskHasNoSums) {
  EXPECT_EQ(linearity("aten.mul.Tensor", binary, "(tensor<4xf32>, tensor<4xi1>) -> tensor<4xf32>"), "{0}");
  EXPECT_EQ(linearity("aten.add.Tensor", binary, "(tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>"), "");
}

TEST_F(RecordLinearity, QuotientsAreLinearInTheDividend) {
  EXPECT_EQ(linearity("aten.div.Tensor", binary, twoVectors), "{0}");
  EXPECT_EQ(linearity("aten.div.Tensor_mode",
                      "{self = #base.operand<0>, other = #base.operand<1>, rounding_mode = \"floor\"}", twoVectors),
            "");
  EXPECT_EQ(linearity("aten.div.Tensor_mode",
                      "{self = #base.operand<0>, other = #base.operand<1>, rounding_mode = unit}", twoVectors),
            "{0}");
}

TEST_F(RecordLinearity, ChoicesAreLinearInWhatTheyChoose) {
  EXPECT_EQ(linearity("aten.where.self",
                      "{condition = #base.operand<0>, self = #base.operand<1>, other = #base.operand<2>}",
                      "(tensor<4xi1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>"),
            "{1, 2}");
  constexpr char types[] = "(tensor<4xf32>, tensor<4xi1>) -> tensor<4xf32>";
  EXPECT_EQ(
      linearity("aten.masked_fill.Scalar", "{self = #base.operand<0>, mask = #base.operand<1>, value = 0}", types),
      "{0}");
  EXPECT_EQ(
      linearity("aten.masked_fill.Scalar", "{self = #base.operand<0>, mask = #base.operand<1>, value = 1.0}", types),
      "");
}

TEST_F(RecordLinearity, FunctionsAreNotLinear) {
  for (llvm::StringRef target : {"aten.silu.default", "aten.relu.default", "aten.rsqrt.default", "aten.abs.default"})
    EXPECT_EQ(linearity(target, unary, oneVector), "") << target.str();
}

TEST_F(RecordLinearity, MatrixProducts) {
  EXPECT_EQ(linearity("aten.matmul.default", binary, "(tensor<4x6xf32>, tensor<6x2xf32>) -> tensor<4x2xf32>"),
            "{0} {1}");
  EXPECT_EQ(linearity("aten.linear.default",
                      "{input = #base.operand<0>, weight = #base.operand<1>, bias = #base.operand<2>}",
                      "(tensor<4x6xf32>, tensor<2x6xf32>, tensor<2xf32>) -> tensor<4x2xf32>"),
            "{0, 2} {1, 2}");
}

TEST_F(RecordLinearity, ViewsMoveElements) {
  EXPECT_EQ(
      linearity("aten.view.default", "{self = #base.operand<0>, size = [2, 2]}", "(tensor<4xf32>) -> tensor<2x2xf32>"),
      "{0} moves");
  EXPECT_EQ(linearity("aten.clone.default", unary, oneVector), "{0} moves");
  EXPECT_EQ(linearity("aten.cat.default", "{tensors = [#base.operand<0>, #base.operand<1>]}",
                      "(tensor<4xf32>, tensor<2xf32>) -> tensor<6xf32>"),
            "{0, 1} moves");
}

TEST_F(RecordLinearity, ConversionsAreLinearWhereTheyWiden) {
  auto to = [&](llvm::StringRef types) {
    return linearity("aten.to.dtype", "{self = #base.operand<0>, dtype = f32}", types);
  };
  EXPECT_EQ(to("(tensor<4xbf16>) -> tensor<4xf32>"), "{0}");
  EXPECT_EQ(to("(tensor<4xf32>) -> tensor<4xbf16>"), "");
  EXPECT_EQ(to("(tensor<4xf32>) -> tensor<4xf32>"), "{0} moves");
  EXPECT_EQ(to("(tensor<4xi32>) -> tensor<4xi64>"), "{0}");
  EXPECT_EQ(to("(tensor<4xi64>) -> tensor<4xf64>"), "");
  EXPECT_EQ(to("(tensor<4xi1>) -> tensor<4xi64>"), "");
  EXPECT_EQ(to("(tensor<4xf16>) -> tensor<4xbf16>"), "");
}

TEST_F(RecordLinearity, PaddingWithZeroIsLinear) {
  constexpr char types[] = "(tensor<4xf32>) -> tensor<5xf32>";
  EXPECT_EQ(linearity("aten.pad.default", "{self = #base.operand<0>, pad = [0, 1]}", types), "{0}");
  EXPECT_EQ(linearity("aten.pad.default", "{self = #base.operand<0>, pad = [0, 1], value = 2.0}", types), "");
}

TEST_F(RecordLinearity, Lookups) {
  EXPECT_EQ(linearity("aten.embedding.default", "{weight = #base.operand<0>, indices = #base.operand<1>}",
                      "(tensor<8x4xf32>, tensor<6xi64>) -> tensor<6x4xf32>"),
            "{0}");
  EXPECT_EQ(linearity("aten.index_select.default", "{self = #base.operand<0>, dim = 0, index = #base.operand<1>}",
                      "(tensor<8x4xf32>, tensor<6xi64>) -> tensor<6x4xf32>"),
            "{0} moves");
}

} // namespace
