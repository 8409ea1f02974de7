//===- attention_test.cpp - derivative of meshplan.attention --------------===//

#include "../derive.h"

using namespace meshplan;

namespace {

using AttentionDerivative = DeriveTest;

constexpr char sides[] = "query = $0, key = $1, value = $2";
constexpr char types[] = "2x6x8x4xf32, 2x3x10x4xf32, 2x3x10x5xf32 -> 2x6x8x5xf32, 2x6x8xf32!";

TEST_F(AttentionDerivative, OneCallGivesAllSides) {
  EXPECT_EQ(derive("meshplan.attention", (llvm::Twine(sides) + ", causal = true, scale = 0.5, window = 4 : i64").str(),
                   types),
            "%0, %1, %2 = meshplan.attention_backward(causal true, gradient g0, key b, query a, "
            "scale 0.5, value c, window 4): 2x6x8x4xf32, 2x3x10x4xf32, 2x3x10x5xf32\na: %0\nb: %1\nc: %2");
}

TEST_F(AttentionDerivative, WhatIsNotWantedIsMadeAndDropped) {
  EXPECT_EQ(deriveOnly({1}, "meshplan.attention", sides, types),
            "%0, %1, %2 = meshplan.attention_backward(gradient g0, key b, query a, value c): "
            "2x6x8x4xf32, 2x3x10x4xf32, 2x3x10x5xf32\nb: %1");
}

TEST_F(AttentionDerivative, OneTensorMayBeAllSides) {
  EXPECT_EQ(derive("meshplan.attention", "query = $0, key = $0, value = $0", "2x6x8x4xf32 -> 2x6x8x4xf32, 2x6x8xf32!"),
            "%0, %1, %2 = meshplan.attention_backward(gradient g0, key a, query a, value a): "
            "2x6x8x4xf32, 2x6x8x4xf32, 2x6x8x4xf32\n"
            "%3 = aten.add.Tensor(other %1, self %0): 2x6x8x4xf32\n"
            "%4 = aten.add.Tensor(other %2, self %3): 2x6x8x4xf32\na: %4");
}

TEST_F(AttentionDerivative, AMaskThatIsTrainedHasACallOfItsOwn) {
  constexpr char masked[] = "query = $0, key = $1, value = $2, mask = $3, key_mask = $4";
  constexpr char maskedTypes[] =
      "2x6x8x4xf32, 2x6x10x4xf32, 2x6x10x4xf32, 1x6x8x10xf32, 2x10xi1 -> 2x6x8x4xf32, 2x6x8xf32!";
  EXPECT_EQ(deriveOnly({3}, "meshplan.attention", masked, maskedTypes),
            "%0 = meshplan.attention_mask_gradient(gradient g0, key b, key_mask e, mask d, "
            "query a, value c): 1x6x8x10xf32\nd: %0");
  EXPECT_EQ(deriveOnly({0}, "meshplan.attention", masked, maskedTypes),
            "%0, %1, %2 = meshplan.attention_backward(gradient g0, key b, key_mask e, mask d, "
            "query a, value c): 2x6x8x4xf32, 2x6x10x4xf32, 2x6x10x4xf32\na: %0");
}

TEST_F(AttentionDerivative, TheLogarithmOfTheSumHasNone) {
  EXPECT_EQ(derive("meshplan.attention", sides, "2x6x8x4xf32, 2x6x8x4xf32, 2x6x8x4xf32 -> 2x6x8x4xf32, 2x6x8xf32"),
            "refused: the logarithm of the sum of an attention's weights has no derivative");
}

TEST_F(AttentionDerivative, DropoutByNumberIsRecomputed) {
  EXPECT_EQ(deriveOnly({0, 1, 2}, "meshplan.attention",
                       (llvm::Twine(sides) + ", dropout = 0.1, seed = $3, step = $4, number = 2 : i64").str(),
                       "2x6x8x4xf32, 2x6x8x4xf32, 2x6x8x4xf32, f64, f64 -> 2x6x8x4xf32, 2x6x8xf32!"),
            "%0, %1, %2 = meshplan.attention_backward(dropout 0.1, gradient g0, key b, number 2, "
            "query a, seed d, step e, value c): 2x6x8x4xf32, 2x6x8x4xf32, 2x6x8x4xf32\na: %0\nb: %1\nc: %2");
}

TEST_F(AttentionDerivative, DropoutWithoutANumberHasNone) {
  EXPECT_EQ(derive("meshplan.attention", (llvm::Twine(sides) + ", dropout = 0.1").str(), types),
            "refused: it draws random numbers");
}

} // namespace
