//===- derivation_test.cpp - the backward calls of one call ---------------===//

#include "compiler/derivatives/derivation.h"
#include "derive.h"

using namespace meshplan;

namespace {

class DerivationTest : public DeriveTest {
protected:
  /// The gradient that an operand of `type` gets from one of type `gradient`.
  std::string given(llvm::StringRef type, llvm::StringRef gradient) {
    auto derivation = begin("aten.add.Tensor", "self = $0", (type + " -> " + gradient).str());
    derivation->give("self", derivation->gradient());
    return describe(*derivation);
  }
};

TEST_F(DerivationTest, ArgumentsAreFoundByName) {
  auto derivation = begin("aten.add.Tensor", "self = $0, other = 2.0", "4xf32 -> 4xf32");
  EXPECT_EQ(derivation->operand("self"), argument(0));
  EXPECT_FALSE(derivation->operand("other")) << "a number is not a tensor";
  EXPECT_FALSE(derivation->operand("out"));
  EXPECT_TRUE(derivation->wants("self"));
  EXPECT_FALSE(derivation->wants("other"));
  EXPECT_FALSE(derivation->wants("out"));
}

TEST_F(DerivationTest, AGradientFitsItsOperand) {
  EXPECT_EQ(given("4x6xf32", "4x6xf32"), "a: g");
  EXPECT_EQ(given("6xf32", "4x6xf32"), "%0 = aten.sum.dim_IntList(dim [0], keepdim false, self g): 6xf32\na: %0");
  EXPECT_EQ(given("4x6xf32", "4x1xf32"), "%0 = aten.expand.default(self g, size [4, 6]): 4x6xf32\na: %0");
  EXPECT_EQ(given("2x4xf32", "f32"), "%0 = aten.expand.default(self g, size [2, 4]): 2x4xf32\na: %0");
  EXPECT_EQ(given("1x6xf32", "4x1xf32"), "%0 = aten.sum.dim_IntList(dim [0], keepdim true, self g): 1x1xf32\n"
                                         "%1 = aten.expand.default(self %0, size [1, 6]): 1x6xf32\na: %1");
}

/// Addends are added before they are rounded.
TEST_F(DerivationTest, AGradientGetsItsOperandsTypeLast) {
  EXPECT_EQ(given("6xbf16", "4x6xf32"), "%0 = aten.sum.dim_IntList(dim [0], keepdim false, self g): 6xf32\n"
                                        "%1 = aten.to.dtype(dtype bf16, self %0): 6xbf16\na: %1");
}

TEST_F(DerivationTest, WhatIsGivenTwiceIsAdded) {
  auto derivation = begin("aten.add.Tensor", both, "4xf32, 4xf32 -> 4xf32");
  derivation->give("self", derivation->gradient());
  derivation->give(0, argument(1));
  EXPECT_EQ(describe(*derivation), "%0 = aten.add.Tensor(other b, self g): 4xf32\na: %0");
}

/// The same tensor under two names is one value.
TEST_F(DerivationTest, AnOperandUnderTwoNamesGetsBoth) {
  auto derivation = begin("aten.add.Tensor", "self = $0, other = $0", "4xf32 -> 4xf32");
  derivation->give("self", derivation->gradient());
  derivation->give("other", derivation->gradient());
  EXPECT_EQ(describe(*derivation), "%0 = aten.add.Tensor(other g, self g): 4xf32\na: %0");
}

TEST_F(DerivationTest, WhatIsNotWantedIsDropped) {
  auto derivation = begin("aten.add.Tensor", both, "4xf32, 4xf32 -> 4xf32", llvm::ArrayRef<unsigned>{1});
  derivation->give("self", derivation->gradient());
  derivation->give("other", derivation->gradient());
  EXPECT_EQ(describe(*derivation), "b: g");
}

TEST_F(DerivationTest, AResultWithoutGradientHasZeros) {
  auto derivation = begin("aten.chunk.default", "self = $0, chunks = 2", "4xf32 -> 2xf32!, 2xf32");
  EXPECT_FALSE(derivation->gradient(0));
  EXPECT_EQ(derivation->gradientOrZeros(1), derivation->gradient(1));
  derivation->give(derivation->result(0), derivation->gradientOrZeros(0));
  EXPECT_EQ(describe(*derivation), "%0 = aten.zeros_like.default(self r0): 2xf32\nr0: %0");
}

TEST_F(DerivationTest, ARefusalHasItsReason) {
  auto derivation = begin("aten.add.Tensor", both, "4xf32, 4xf32 -> 4xf32");
  EXPECT_EQ(derivation->getRefusal(), "");
  derivation->refuse("it is " + llvm::Twine(2) + " hard");
  EXPECT_EQ(derivation->getRefusal(), "it is 2 hard");
}

} // namespace
