//===- canonical_names_test.cpp - operators with several names ------------===//

#include "compiler/sharding/families/canonical_names.h"
#include "test/unit/sharding/parsed_call.h"
#include "llvm/Support/raw_ostream.h"

using namespace meshplan;

namespace {

class CanonicalNames : public CallTest {
protected:
  /// The rewritten call as `target {arguments}`, or "".
  std::string plain(llvm::StringRef target, llvm::StringRef args, llvm::StringRef types) {
    std::optional<CallRewrite> rewrite = toCanonicalOperator(parse(target, args, types));
    if (!rewrite)
      return "";
    std::string text;
    llvm::raw_string_ostream stream(text);
    stream << rewrite->target << ' ' << rewrite->args << ' ' << rewrite->operands.size();
    return text;
  }
};

constexpr char square[] = "(tensor<4x6x8xf32>) -> tensor<4x6x8xf32>";

TEST_F(CanonicalNames, OverloadsAndArgumentsStay) {
  EXPECT_EQ(plain("aten.true_divide.Scalar", "{self = #base.operand<0>, other = 2.0}", square),
            "aten.div.Scalar {other = 2.000000e+00 : f64, self = #base.operand<0>} 1");
  EXPECT_EQ(plain("aten.special_expit.default", unary, square), "aten.sigmoid.default {self = #base.operand<0>} 1");
  EXPECT_EQ(plain("aten.mul.Tensor", unary, square), "");
  EXPECT_EQ(plain("own.multiply.Tensor", unary, square), "");
}

TEST_F(CanonicalNames, TransposesAndPermutations) {
  EXPECT_EQ(plain("aten.swapaxes.default", "{self = #base.operand<0>, axis0 = 1, axis1 = -1}",
                  "(tensor<4x6x8xf32>) -> tensor<4x8x6xf32>"),
            "aten.transpose.int {dim0 = 1 : i64, dim1 = -1 : i64, self = #base.operand<0>} 1");
  EXPECT_EQ(plain("aten.movedim.int", "{self = #base.operand<0>, source = 0, destination = -1}",
                  "(tensor<4x6x8xf32>) -> tensor<6x8x4xf32>"),
            "aten.permute.default {dims = [1, 2, 0], self = #base.operand<0>} 1");
  EXPECT_EQ(plain("aten.movedim.intlist", "{self = #base.operand<0>, source = [2, 0], destination = [0, 1]}",
                  "(tensor<4x6x8xf32>) -> tensor<8x4x6xf32>"),
            "aten.permute.default {dims = [2, 0, 1], self = #base.operand<0>} 1");
  EXPECT_EQ(plain("aten.movedim.int", "{self = #base.operand<0>, source = 0, destination = 7}", square), "");
  EXPECT_EQ(plain("aten.movedim.intlist", "{self = #base.operand<0>, source = [0, 0], destination = [1, 1]}", square),
            "");
}

TEST_F(CanonicalNames, ASecondOperandThatGivesAShapeGoes) {
  EXPECT_EQ(plain("aten.expand_as.default", "{self = #base.operand<0>, other = #base.operand<1>}",
                  "(tensor<4x1xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>"),
            "aten.expand.default {self = #base.operand<0>, size = [4, 6]} 1");
}

TEST_F(CanonicalNames, NarrowIsASlice) {
  EXPECT_EQ(plain("aten.narrow.default", "{self = #base.operand<0>, dim = -1, start = -3, length = 2}",
                  "(tensor<4x6xf32>) -> tensor<4x2xf32>"),
            "aten.slice.Tensor {dim = 1 : i64, end = 5 : i64, self = #base.operand<0>, start = 3 : i64} 1");
}

TEST_F(CanonicalNames, TileRepeatsEveryDim) {
  EXPECT_EQ(
      plain("aten.tile.default", "{self = #base.operand<0>, dims = [2]}", "(tensor<4x6xf32>) -> tensor<4x12xf32>"),
      "aten.repeat.default {repeats = [1, 2], self = #base.operand<0>} 1");
}

TEST_F(CanonicalNames, CopiesOfViewsAreViews) {
  EXPECT_EQ(plain("aten.squeeze_copy.dim", "{self = #base.operand<0>, dim = 1}", "(tensor<4x1xf32>) -> tensor<4xf32>"),
            "aten.squeeze.dim {dim = 1 : i64, self = #base.operand<0>} 1");
  EXPECT_EQ(plain("aten.narrow_copy.default", "{self = #base.operand<0>, dim = 0, start = 1, length = 2}",
                  "(tensor<4x6xf32>) -> tensor<2x6xf32>"),
            "aten.slice.Tensor {dim = 0 : i64, end = 3 : i64, self = #base.operand<0>, start = 1 : i64} 1");
}

TEST_F(CanonicalNames, SplitsByDirection) {
  EXPECT_EQ(plain("aten.hsplit.int", "{self = #base.operand<0>, sections = 2}",
                  "(tensor<4x6xf32>) -> (tensor<4x3xf32>, tensor<4x3xf32>)"),
            "aten.tensor_split.sections {dim = 1 : i64, sections = 2 : i64, self = #base.operand<0>} 1");
  EXPECT_EQ(plain("aten.hsplit.int", "{self = #base.operand<0>, sections = 2}",
                  "(tensor<6xf32>) -> (tensor<3xf32>, tensor<3xf32>)"),
            "aten.tensor_split.sections {dim = 0 : i64, sections = 2 : i64, self = #base.operand<0>} 1");
  EXPECT_EQ(plain("aten.dsplit.array", "{self = #base.operand<0>, indices = [1]}",
                  "(tensor<4x6x3xf32>) -> (tensor<4x6x1xf32>, tensor<4x6x2xf32>)"),
            "aten.tensor_split.indices {dim = 2 : i64, indices = [1], self = #base.operand<0>} 1");
}

TEST_F(CanonicalNames, Diagonals) {
  EXPECT_EQ(plain("aten.diag.default", "{self = #base.operand<0>, diagonal = 1}", "(tensor<4x6xf32>) -> tensor<4xf32>"),
            "aten.diagonal.default {dim1 = 0 : i64, dim2 = 1 : i64, offset = 1 : i64, self = #base.operand<0>} 1");
  EXPECT_EQ(plain("aten.diag.default", unary, "(tensor<4xf32>) -> tensor<4x4xf32>"),
            "aten.diag_embed.default {dim1 = 0 : i64, dim2 = 1 : i64, offset = 0 : i64, self = #base.operand<0>} 1");
  EXPECT_EQ(plain("aten.linalg_diagonal.default", "{A = #base.operand<0>}", "(tensor<2x4x6xf32>) -> tensor<2x4xf32>"),
            "aten.diagonal.default {dim1 = -2 : i64, dim2 = -1 : i64, offset = 0 : i64, self = #base.operand<0>} 1");
}

TEST_F(CanonicalNames, WhatIsRealIsItsOwnConjugate) {
  for (const char *name : {"real", "conj", "_conj", "conj_physical", "resolve_conj", "resolve_neg"})
    EXPECT_EQ(plain("aten." + std::string(name) + ".default", unary, square),
              "aten.alias.default {self = #base.operand<0>} 1");
  EXPECT_EQ(plain("aten.mH.default", unary, "(tensor<4x6x8xf32>) -> tensor<4x8x6xf32>"),
            "aten.transpose.int {dim0 = -2 : i64, dim1 = -1 : i64, self = #base.operand<0>} 1");
  EXPECT_EQ(plain("aten.real.default", unary, "(tensor<4xcomplex<f32>>) -> tensor<4xf32>"), "");
}

TEST_F(CanonicalNames, UnbiasedIsACorrection) {
  EXPECT_EQ(plain("aten.std.dim", "{self = #base.operand<0>, dim = [1], unbiased = false}",
                  "(tensor<4x6xf32>) -> tensor<4xf32>"),
            "aten.std.correction {correction = 0 : i64, dim = [1], self = #base.operand<0>} 1");
  EXPECT_EQ(plain("aten.var.default", unary, "(tensor<4x6xf32>) -> tensor<f32>"),
            "aten.var.correction {correction = 1 : i64, self = #base.operand<0>} 1");
  EXPECT_EQ(plain("aten.std.correction", unary, "(tensor<4x6xf32>) -> tensor<f32>"), "");
}

} // namespace
