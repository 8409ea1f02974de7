//===- written_attention_test.cpp - attention as single operators ---------===//

#include "compiler/transforms/import/attention/written_attention.h"
#include "test/unit/import/program_text.h"
#include <cmath>

using namespace meshplan;
using namespace mlir;

namespace {

/// Two samples, three heads, 4 queries and 5 keys. The programs consist of the steps from the product to the softmax,
/// then the product with the values.
class WrittenAttentionTest : public ProgramText {
protected:
  /// Recognizes the attention whose scores are `steps` on the product %p; the last step computes %s.
  std::optional<WrittenAttention> readSteps(std::vector<std::string> steps, StringRef softmaxDim = "-1") {
    std::vector<std::string> lines = {
        "p = aten.matmul.default(q: 2x3x4x8xf32, k: 2x3x8x5xf32) {self = #base.operand<0>, other = #base.operand<1>} : "
        "2x3x4x5xf32"};
    llvm::append_range(lines, steps);
    lines.push_back("w = aten.softmax.int(s: 2x3x4x5xf32) {self = #base.operand<0>, dim = " + softmaxDim.str() +
                    "} : 2x3x4x5xf32");
    lines.push_back("o = aten.matmul.default(w: 2x3x4x5xf32, v: 2x3x5x6xf32) {self = #base.operand<0>, other = "
                    "#base.operand<1>} : 2x3x4x6xf32");
    read("q: 2x3x4x8xf32; k: 2x3x8x5xf32; v: 2x3x5x6xf32; m: 2x1x4x5xf32; h: 2x1x4x5xi1", lines);
    IndexFunctions functions;
    return readWrittenAttention(call(lines.size() - 2), functions);
  }

  static std::string scaled(StringRef to, StringRef from, StringRef number, StringRef target = "aten.mul.Tensor") {
    return (to + " = " + target + "(" + from + ": 2x3x4x5xf32) {self = #base.operand<0>, other = " + number +
            "} : 2x3x4x5xf32")
        .str();
  }
  static std::string tanh(StringRef to, StringRef from) {
    return (to + " = aten.tanh.default(" + from + ": 2x3x4x5xf32) {self = #base.operand<0>} : 2x3x4x5xf32").str();
  }
  static std::string added(StringRef to, StringRef left, StringRef right, StringRef more = "") {
    auto typed = [](StringRef name) { return (name + (name == "m" ? ": 2x1x4x5xf32" : ": 2x3x4x5xf32")).str(); };
    return (to + " = aten.add.Tensor(" + typed(left) + ", " + typed(right) +
            ") {self = #base.operand<0>, other = #base.operand<1>" + more + "} : 2x3x4x5xf32")
        .str();
  }
  static std::string same(StringRef to, StringRef from) { return scaled(to, from, "1.0"); }
};

TEST_F(WrittenAttentionTest, ScaledScores) {
  std::optional<WrittenAttention> found = readSteps({scaled("s", "p", "0.25")});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->query, argument(0));
  EXPECT_EQ(found->key, argument(1));
  EXPECT_EQ(found->value, argument(2));
  EXPECT_EQ(found->scale, 0.25);
  EXPECT_EQ(found->softcap, 0);
  EXPECT_TRUE(found->steps.empty());
  EXPECT_EQ(found->batch, 2);
  EXPECT_EQ(found->heads, 3);
  EXPECT_EQ(found->queries, 4);
  EXPECT_EQ(found->keys, 5);
}

TEST_F(WrittenAttentionTest, ScalesMultiply) {
  EXPECT_EQ(readSteps({scaled("a", "p", "0.5"), scaled("s", "a", "4", "aten.div.Tensor")})->scale, 0.125);
  EXPECT_EQ(readSteps({scaled("a", "p", "2.0", "aten.mul.Scalar"), scaled("s", "a", "-8.0", "aten.div.Scalar")})->scale,
            -0.25);
}

TEST_F(WrittenAttentionTest, AScaleMayBeATensorOfOneNumber) {
  EXPECT_EQ(
      readSteps({"c = aten.full.default() {size = [], fill_value = 0.5, dtype = f32} : f32",
                 "s = aten.mul.Tensor(p: 2x3x4x5xf32, c: f32) {self = #base.operand<0>, other = #base.operand<1>} "
                 ": 2x3x4x5xf32"})
          ->scale,
      0.5);
}

TEST_F(WrittenAttentionTest, WhatIsNoFiniteScaleIsNotRead) {
  for (StringRef number : {"0.0", "0xFFF0000000000000 : f64", "true"})
    EXPECT_FALSE(readSteps({scaled("s", "p", number)})) << number.str();
  EXPECT_FALSE(readSteps({scaled("s", "p", "0", "aten.div.Tensor")}));
}

TEST_F(WrittenAttentionTest, MasksStandInTheirOrder) {
  std::optional<WrittenAttention> found = readSteps(
      {scaled("a", "p", "0.5"), added("b", "a", "m"),
       "c = aten.masked_fill.Scalar(b: 2x3x4x5xf32, h: 2x1x4x5xi1) {self = #base.operand<0>, mask = #base.operand<1>, "
       "value = -7.0} : 2x3x4x5xf32",
       "s = aten.where.ScalarOther(h: 2x1x4x5xi1, c: 2x3x4x5xf32) {condition = #base.operand<0>, self = "
       "#base.operand<1>, other = -8.0} : 2x3x4x5xf32"});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->scale, 0.5);
  ASSERT_EQ(found->steps.size(), 3u);
  EXPECT_EQ(found->steps[0].kind, ScoreStep::add);
  EXPECT_EQ(found->steps[0].tensor, argument(3));
  EXPECT_EQ(found->steps[1].kind, ScoreStep::fillWhere);
  EXPECT_EQ(found->steps[1].tensor, argument(4));
  EXPECT_EQ(found->steps[1].number, -7);
  EXPECT_EQ(found->steps[2].kind, ScoreStep::fillWhereNot);
  EXPECT_EQ(found->steps[2].number, -8);
}

TEST_F(WrittenAttentionTest, TheScoresAreOnEitherSideOfASum) {
  for (std::string sum : {added("s", "p", "m"), added("s", "m", "p")}) {
    std::optional<WrittenAttention> found = readSteps({sum});
    ASSERT_TRUE(found) << sum;
    ASSERT_EQ(found->steps.size(), 1u);
    EXPECT_EQ(found->steps[0].tensor, argument(3));
  }
  EXPECT_FALSE(readSteps({added("s", "p", "m", ", alpha = 2")}));
}

TEST_F(WrittenAttentionTest, AMaskThatIsScaledWithTheScoresIsNotRead) {
  // 0.5 * (p + m) is not 0.5 * p + m, in either order of the operands.
  EXPECT_FALSE(readSteps({added("a", "p", "m"), scaled("s", "a", "0.5")}));
  EXPECT_FALSE(readSteps({added("a", "m", "p"), scaled("s", "a", "0.5")}));
  EXPECT_FALSE(readSteps({added("a", "m", "p"), tanh("s", "a")}));
  EXPECT_FALSE(readSteps(
      {"a = aten.masked_fill.Scalar(p: 2x3x4x5xf32, h: 2x1x4x5xi1) {self = #base.operand<0>, mask = #base.operand<1>, "
       "value = -7.0} : 2x3x4x5xf32",
       scaled("s", "a", "0.5")}));
}

TEST_F(WrittenAttentionTest, SumsOfMasksOnBothSides) {
  std::optional<WrittenAttention> found =
      readSteps({scaled("a", "p", "0.5"), added("b", "m", "a"), added("s", "b", "m")});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->steps.size(), 2u);
  EXPECT_EQ(found->scale, 0.5);
}

/// softcap * tanh(scale * x / softcap), for a recognized attention.
double capped(const WrittenAttention &attention, double x) {
  return attention.softcap * std::tanh(attention.scale * x / attention.softcap);
}

TEST_F(WrittenAttentionTest, ACapIsWhatStandsAroundTheTanh) {
  // Gemma: 50 * tanh(0.25 * x / 50); a tanh alone; and one that flips the sign.
  std::optional<WrittenAttention> gemma =
      readSteps({scaled("a", "p", "0.25"), scaled("b", "a", "50.0", "aten.div.Tensor"), tanh("c", "b"),
                 scaled("s", "c", "50.0")});
  std::optional<WrittenAttention> alone = readSteps({scaled("a", "p", "0.25"), tanh("s", "a")});
  std::optional<WrittenAttention> turned =
      readSteps({scaled("a", "p", "0.25"), tanh("c", "a"), scaled("s", "c", "-3.0")});
  ASSERT_TRUE(gemma && alone && turned);
  for (double x : {-40.0, -1.0, 0.0, 0.5, 7.0, 1000.0}) {
    EXPECT_NEAR(capped(*gemma, x), 50 * std::tanh(0.25 * x / 50), 1e-12);
    EXPECT_NEAR(capped(*alone, x), std::tanh(0.25 * x), 1e-12);
    EXPECT_NEAR(capped(*turned, x), -3 * std::tanh(0.25 * x), 1e-12);
  }
}

TEST_F(WrittenAttentionTest, ThereIsOneCap) { EXPECT_FALSE(readSteps({tanh("a", "p"), tanh("s", "a")})); }

TEST_F(WrittenAttentionTest, TheSoftmaxIsOverTheKeys) {
  EXPECT_TRUE(readSteps({same("s", "p")}, "3"));
  EXPECT_FALSE(readSteps({same("s", "p")}, "2"));
  EXPECT_FALSE(readSteps({same("s", "p")}, "-2"));
}

TEST_F(WrittenAttentionTest, OtherStepsAreNotRead) {
  for (StringRef target : {"aten.relu.default", "aten.neg.default", "custom.op.default"})
    EXPECT_FALSE(readSteps({("s = " + target + "(p: 2x3x4x5xf32) {self = #base.operand<0>} : 2x3x4x5xf32").str()}));
  // A call that moves scores may move them to other queries.
  EXPECT_FALSE(readSteps({"s = aten.transpose.int(p: 2x3x4x5xf32) {self = #base.operand<0>, dim0 = 0, dim1 = 0} : "
                          "2x3x4x5xf32"}));
}

TEST_F(WrittenAttentionTest, ProbabilitiesThatAreReadElsewhereAreKept) {
  auto attention = [&](std::vector<std::string> more) {
    std::vector<std::string> lines = {
        "s = aten.bmm.default(q: 6x4x8xf32, k: 6x8x5xf32) {self = #base.operand<0>, mat2 = #base.operand<1>} : "
        "6x4x5xf32",
        "f = aten.view.default(s: 6x4x5xf32) {self = #base.operand<0>, size = [2, 3, 4, 5]} : 2x3x4x5xf32",
        "w = aten.softmax.int(f: 2x3x4x5xf32) {self = #base.operand<0>, dim = -1} : 2x3x4x5xf32",
        "g = aten.view.default(w: 2x3x4x5xf32) {self = #base.operand<0>, size = [6, 4, 5]} : 6x4x5xf32",
        "o = aten.bmm.default(g: 6x4x5xf32, v: 6x5x6xf32) {self = #base.operand<0>, mat2 = #base.operand<1>} : "
        "6x4x6xf32"};
    llvm::append_range(lines, more);
    read("q: 6x4x8xf32; k: 6x8x5xf32; v: 6x5x6xf32", lines);
    IndexFunctions functions;
    return readWrittenAttention(call(2), functions);
  };
  std::optional<WrittenAttention> found = attention({});
  ASSERT_TRUE(found) << "batch and heads in one dim";
  EXPECT_EQ(found->product, call(4));
  EXPECT_EQ(found->heads, 3);
  EXPECT_FALSE(attention({"x = aten.neg.default(w: 2x3x4x5xf32) {self = #base.operand<0>} : 2x3x4x5xf32"}));
  EXPECT_FALSE(attention({"x = aten.neg.default(g: 6x4x5xf32) {self = #base.operand<0>} : 6x4x5xf32"}));
}

TEST_F(WrittenAttentionTest, AProductThatBroadcastsIsNone) {
  // One key head for all: the operands do not have a batch and heads of their own.
  read("q: 2x3x4x8xf32; k: 1x1x8x5xf32; v: 2x3x5x6xf32",
       {"s = aten.matmul.default(q: 2x3x4x8xf32, k: 1x1x8x5xf32) {self = #base.operand<0>, other = #base.operand<1>} : "
        "2x3x4x5xf32",
        "w = aten.softmax.int(s: 2x3x4x5xf32) {self = #base.operand<0>, dim = -1} : 2x3x4x5xf32",
        "o = aten.matmul.default(w: 2x3x4x5xf32, v: 2x3x5x6xf32) {self = #base.operand<0>, other = #base.operand<1>} : "
        "2x3x4x6xf32"});
  IndexFunctions functions;
  EXPECT_FALSE(readWrittenAttention(call(1), functions));
}

TEST_F(WrittenAttentionTest, AProductWithAVectorIsNone) {
  // A scalar per key instead of values, and so a scalar per query.
  constexpr char softmax[] = "w = aten.softmax.int(s: 2x3x4x5xf32) {self = #base.operand<0>, dim = -1} : 2x3x4x5xf32";
  read("q: 2x3x4x8xf32; k: 2x3x8x5xf32; v: 5xf32",
       {"s = aten.matmul.default(q: 2x3x4x8xf32, k: 2x3x8x5xf32) {self = #base.operand<0>, other = #base.operand<1>} : "
        "2x3x4x5xf32",
        softmax,
        "o = aten.matmul.default(w: 2x3x4x5xf32, v: 5xf32) {self = #base.operand<0>, other = #base.operand<1>} : "
        "2x3x4xf32"});
  IndexFunctions functions;
  EXPECT_FALSE(readWrittenAttention(call(1), functions));
  read("q: 2x3x4x5x8xf32; k: 8xf32; v: 2x3x5x6xf32",
       {"p = aten.reshape.default(q: 2x3x4x5x8xf32) {self = #base.operand<0>, shape = [6, 4, 5, 8]} : 6x4x5x8xf32",
        "m = aten.matmul.default(p: 6x4x5x8xf32, k: 8xf32) {self = #base.operand<0>, other = #base.operand<1>} : "
        "6x4x5xf32",
        "s = aten.view.default(m: 6x4x5xf32) {self = #base.operand<0>, size = [2, 3, 4, 5]} : 2x3x4x5xf32", softmax,
        "o = aten.matmul.default(w: 2x3x4x5xf32, v: 2x3x5x6xf32) {self = #base.operand<0>, other = #base.operand<1>} : "
        "2x3x4x6xf32"});
  EXPECT_FALSE(readWrittenAttention(call(3), functions));
}

TEST_F(WrittenAttentionTest, AProductWithoutItsSecondMatrixIsNone) {
  read("q: 2x3x4x8xf32; k: 2x3x8x5xf32",
       {"s = aten.matmul.default(q: 2x3x4x8xf32, k: 2x3x8x5xf32) {self = #base.operand<0>, other = #base.operand<1>} : "
        "2x3x4x5xf32",
        "w = aten.softmax.int(s: 2x3x4x5xf32) {self = #base.operand<0>, dim = -1} : 2x3x4x5xf32",
        "o = aten.matmul.default(w: 2x3x4x5xf32) {self = #base.operand<0>} : 2x3x4x6xf32"});
  IndexFunctions functions;
  EXPECT_FALSE(readWrittenAttention(call(1), functions));
}

TEST_F(WrittenAttentionTest, BaddbmmAddsOrNot) {
  auto product = [&](StringRef literals) {
    read("q: 6x4x8xf32; k: 6x8x5xf32; v: 6x5x6xf32; b: 6x1x5xf32",
         {("s = aten.baddbmm.default(b: 6x1x5xf32, q: 6x4x8xf32, k: 6x8x5xf32) {self = #base.operand<0>, batch1 = "
           "#base.operand<1>, batch2 = #base.operand<2>" +
           literals + "} : 6x4x5xf32")
              .str(),
          "f = aten.view.default(s: 6x4x5xf32) {self = #base.operand<0>, size = [2, 3, 4, 5]} : 2x3x4x5xf32",
          "w = aten.softmax.int(f: 2x3x4x5xf32) {self = #base.operand<0>, dim = -1} : 2x3x4x5xf32",
          "g = aten.view.default(w: 2x3x4x5xf32) {self = #base.operand<0>, size = [6, 4, 5]} : 6x4x5xf32",
          "o = aten.bmm.default(g: 6x4x5xf32, v: 6x5x6xf32) {self = #base.operand<0>, mat2 = #base.operand<1>} : "
          "6x4x6xf32"});
    IndexFunctions functions;
    return readWrittenAttention(call(2), functions);
  };
  std::optional<WrittenAttention> both = product(", beta = 1, alpha = 0.5");
  ASSERT_TRUE(both);
  EXPECT_EQ(both->scale, 0.5);
  ASSERT_EQ(both->steps.size(), 1u);
  EXPECT_EQ(both->steps[0].tensor, argument(3));
  std::optional<WrittenAttention> alone = product(", beta = 0, alpha = 0.5");
  ASSERT_TRUE(alone);
  EXPECT_TRUE(alone->steps.empty());
  EXPECT_FALSE(product(", beta = 0.5"));
}

} // namespace
