//===- other_names_test.cpp - operators that PyTorch has several names for ===//

#include "compiler/sharding/calls/other_names.h"
#include "parsed_call.h"
#include "llvm/Support/raw_ostream.h"

using namespace meshplan;

namespace {

class OtherNames : public CallTest {
protected:
  /// The rewritten call as `target {arguments}`, or "".
  std::string plain(llvm::StringRef target, llvm::StringRef args, llvm::StringRef types) {
    std::optional<CallRewrite> rewrite = underPlainName(parse(target, args, types));
    if (!rewrite)
      return "";
    std::string text;
    llvm::raw_string_ostream stream(text);
    stream << rewrite->target << ' ' << rewrite->args << ' ' << rewrite->operands.size();
    return text;
  }
};

constexpr char unary[] = "{self = #plan.operand<0>}";
constexpr char square[] = "(tensor<4x6x8xf32>) -> tensor<4x6x8xf32>";

TEST_F(OtherNames, OverloadsAndArgumentsStay) {
  EXPECT_EQ(plain("aten.true_divide.Scalar", "{self = #plan.operand<0>, other = 2.0}", square),
            "aten.div.Scalar {other = 2.000000e+00 : f64, self = #plan.operand<0>} 1");
  EXPECT_EQ(plain("aten.special_expit.default", unary, square), "aten.sigmoid.default {self = #plan.operand<0>} 1");
  EXPECT_EQ(plain("aten.mul.Tensor", unary, square), "");
  EXPECT_EQ(plain("own.multiply.Tensor", unary, square), "");
}

TEST_F(OtherNames, TransposesAndPermutations) {
  EXPECT_EQ(plain("aten.swapaxes.default", "{self = #plan.operand<0>, axis0 = 1, axis1 = -1}",
                  "(tensor<4x6x8xf32>) -> tensor<4x8x6xf32>"),
            "aten.transpose.int {dim0 = 1 : i64, dim1 = -1 : i64, self = #plan.operand<0>} 1");
  EXPECT_EQ(plain("aten.movedim.int", "{self = #plan.operand<0>, source = 0, destination = -1}",
                  "(tensor<4x6x8xf32>) -> tensor<6x8x4xf32>"),
            "aten.permute.default {dims = [1, 2, 0], self = #plan.operand<0>} 1");
  EXPECT_EQ(plain("aten.movedim.intlist", "{self = #plan.operand<0>, source = [2, 0], destination = [0, 1]}",
                  "(tensor<4x6x8xf32>) -> tensor<8x4x6xf32>"),
            "aten.permute.default {dims = [2, 0, 1], self = #plan.operand<0>} 1");
  EXPECT_EQ(plain("aten.movedim.int", "{self = #plan.operand<0>, source = 0, destination = 7}", square), "");
  EXPECT_EQ(plain("aten.movedim.intlist", "{self = #plan.operand<0>, source = [0, 0], destination = [1, 1]}", square),
            "");
}

TEST_F(OtherNames, ASecondOperandThatGivesAShapeGoes) {
  EXPECT_EQ(plain("aten.expand_as.default", "{self = #plan.operand<0>, other = #plan.operand<1>}",
                  "(tensor<4x1xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>"),
            "aten.expand.default {self = #plan.operand<0>, size = [4, 6]} 1");
}

TEST_F(OtherNames, NarrowIsASlice) {
  EXPECT_EQ(plain("aten.narrow.default", "{self = #plan.operand<0>, dim = -1, start = -3, length = 2}",
                  "(tensor<4x6xf32>) -> tensor<4x2xf32>"),
            "aten.slice.Tensor {dim = 1 : i64, end = 5 : i64, self = #plan.operand<0>, start = 3 : i64} 1");
}

TEST_F(OtherNames, TileRepeatsEveryDim) {
  EXPECT_EQ(
      plain("aten.tile.default", "{self = #plan.operand<0>, dims = [2]}", "(tensor<4x6xf32>) -> tensor<4x12xf32>"),
      "aten.repeat.default {repeats = [1, 2], self = #plan.operand<0>} 1");
}

TEST_F(OtherNames, StacksOfWhatHasTheDimsAlready) {
  constexpr char args[] = "{tensors = [#plan.operand<0>, #plan.operand<1>]}";
  EXPECT_EQ(plain("aten.hstack.default", args, "(tensor<4x6xf32>, tensor<4x2xf32>) -> tensor<4x8xf32>"),
            "aten.cat.default {dim = 1 : i64, tensors = [#plan.operand<0>, #plan.operand<1>]} 2");
  EXPECT_EQ(plain("aten.hstack.default", args, "(tensor<6xf32>, tensor<2xf32>) -> tensor<8xf32>"),
            "aten.cat.default {dim = 0 : i64, tensors = [#plan.operand<0>, #plan.operand<1>]} 2");
  EXPECT_EQ(plain("aten.vstack.default", args, "(tensor<6xf32>, tensor<6xf32>) -> tensor<2x6xf32>"), "");
  EXPECT_EQ(plain("aten.dstack.default", args, "(tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6x2xf32>"), "");
}

TEST_F(OtherNames, UnbiasedIsACorrection) {
  EXPECT_EQ(plain("aten.std.dim", "{self = #plan.operand<0>, dim = [1], unbiased = false}",
                  "(tensor<4x6xf32>) -> tensor<4xf32>"),
            "aten.std.correction {correction = 0 : i64, dim = [1], self = #plan.operand<0>} 1");
  EXPECT_EQ(plain("aten.var.default", unary, "(tensor<4x6xf32>) -> tensor<f32>"),
            "aten.var.correction {correction = 1 : i64, self = #plan.operand<0>} 1");
  EXPECT_EQ(plain("aten.std.correction", unary, "(tensor<4x6xf32>) -> tensor<f32>"), "");
}

} // namespace
