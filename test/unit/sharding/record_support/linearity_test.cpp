//===- linearity_test.cpp - sets of operands in which a call is linear ----===//

#include "compiler/sharding/record_support/linearity.h"
#include "mlir/AsmParser/AsmParser.h"
#include "test/unit/sharding/parsed_call.h"

using namespace meshplan;
using namespace mlir;

namespace {

class LinearityTest : public CallTest {
protected:
  std::string linear(StringRef args, StringRef types, std::initializer_list<ArgumentSet> sets) {
    return describe(linearIn(parse("x", args, types), sets));
  }
  bool keeps(StringRef from, StringRef to) { return keepsSums(parseType(from, &context), parseType(to, &context)); }
};

TEST_F(LinearityTest, SumsAreKeptByWiderTypesOfTheSameKind) {
  // Rows: from; columns: to, in the order of `types`.
  const char *types[] = {"i1", "i8", "i32", "i64", "bf16", "f16", "f32", "f64"};
  const char *kept[] = {"........", ".xxx....", "..xx....", "...x....", "....x.xx", ".....xxx", "......xx", ".......x"};
  for (size_t from = 0; from < 8; ++from)
    for (size_t to = 0; to < 8; ++to)
      EXPECT_EQ(keeps(types[from], types[to]), kept[from][to] == 'x') << types[from] << " to " << types[to];
}

constexpr char both[] = "{a = #base.operand<0>, b = #base.operand<1>}";
constexpr char two[] = "(tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>";

TEST_F(LinearityTest, EachSetIsOneOfOperands) {
  EXPECT_EQ(linear(both, two, {{"a", "b"}}), "{0, 1}");
  EXPECT_EQ(linear(both, two, {{"a"}, {"b"}}), "{0} {1}");
  EXPECT_EQ(linear(both, two, {{"b"}}), "{1}");
  EXPECT_EQ(linear(both, two, {}), "");
}

TEST_F(LinearityTest, ASetWithWhatIsNoTensorIsLeftOut) {
  EXPECT_EQ(linear("{a = #base.operand<0>, b = 2.0}", "(tensor<4xf32>) -> tensor<4xf32>", {{"a", "b"}}), "");
  EXPECT_EQ(linear("{a = #base.operand<0>, b = 2.0}", "(tensor<4xf32>) -> tensor<4xf32>", {{"a"}, {"b"}}), "{0}");
  EXPECT_EQ(linear("{a = #base.operand<0>}", "(tensor<4xf32>) -> tensor<4xf32>", {{"a", "b"}}), "");
  EXPECT_EQ(linear("{a = #base.operand<5>}", "(tensor<4xf32>) -> tensor<4xf32>", {{"a"}}), "");
}

TEST_F(LinearityTest, AnOperandThatIsUsedElsewhereIsNotLinear) {
  constexpr char same[] = "{a = #base.operand<0>, b = #base.operand<0>}", one[] = "(tensor<4xf32>) -> tensor<4xf32>";
  EXPECT_EQ(linear(same, one, {{"a"}}), "") << "a square";
  EXPECT_EQ(linear(same, one, {{"a", "b"}}), "{0}") << "a sum of it with itself";
}

TEST_F(LinearityTest, TypesThatLoseSumsAreLeftOut) {
  EXPECT_EQ(linear(both, "(tensor<4xf32>, tensor<4xi64>) -> tensor<4xf32>", {{"a"}, {"b"}}), "{0}");
  EXPECT_EQ(linear(both, "(tensor<4xf32>, tensor<4xf32>) -> tensor<4xbf16>", {{"a"}, {"b"}}), "");
  EXPECT_EQ(linear(both, "(tensor<4xf32>, tensor<4xf32>) -> ()", {{"a"}}), "");
}

TEST_F(LinearityTest, SetsDoNotDependOnTheOrderOfArguments) {
  // A partial value is accepted if the partial operands are one of the sets; operands are numbered from 0.
  EXPECT_EQ(linear("{a = #base.operand<1>, b = #base.operand<0>}", two, {{"a", "b"}}), "{0, 1}");
}

TEST_F(LinearityTest, AMoveTakesSumsMaximaAndMinima) {
  auto moves = [&](StringRef types) { return describe(movesOperand(parse("x", "{}", types))); };
  EXPECT_EQ(moves("(tensor<4xf32>) -> tensor<2x2xf32>"), "{0} moves");
  EXPECT_EQ(moves("(tensor<4xi1>) -> tensor<4xi1>"), "{0} moves") << "a maximum of booleans is one";
  EXPECT_EQ(moves("(tensor<4xbf16>) -> tensor<4xf32>"), "{0}") << "a conversion rounds or not; sums stay";
  EXPECT_EQ(moves("(tensor<4xf32>) -> tensor<4xbf16>"), "");
  EXPECT_EQ(moves("() -> tensor<4xf32>"), "");
  EXPECT_EQ(moves("(tensor<4xf32>) -> ()"), "");
}

TEST_F(LinearityTest, NotLinearTakesNothing) { EXPECT_EQ(describe(notLinear(parse("x", both, two))), ""); }

} // namespace
