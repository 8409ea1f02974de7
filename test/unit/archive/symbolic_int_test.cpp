//===- symbolic_int_test.cpp - integers that depend on input dims *- C++ -*-===//

#include "compiler/archive/symbolic_int.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace meshplan::archive;

namespace {

const std::string s0 = "Symbol('s0', positive=True, integer=True)";
const std::string s1 = "Symbol('s1', integer=True)";

SymbolicInt parse(const std::string &text) {
  llvm::Expected<SymbolicInt> parsed = parseSymbolicInt(text);
  if (parsed)
    return *parsed;
  ADD_FAILURE() << llvm::toString(parsed.takeError());
  return 0;
}

std::string parseError(const std::string &text) {
  llvm::Expected<SymbolicInt> parsed = parseSymbolicInt(text);
  return parsed ? "no error" : llvm::toString(parsed.takeError());
}

int64_t valueOf(const std::string &text, int64_t first, int64_t second = 0) {
  SymbolBindings bindings;
  bindings["s0"] = first;
  bindings["s1"] = second;
  llvm::Expected<int64_t> value = evaluate(parse(text), bindings);
  if (value)
    return *value;
  ADD_FAILURE() << llvm::toString(value.takeError());
  return 0;
}

std::string evaluateError(const std::string &text, const SymbolBindings &bindings) {
  llvm::Expected<int64_t> value = evaluate(parse(text), bindings);
  return value ? "no error" : llvm::toString(value.takeError());
}

TEST(SymbolicInt, KnowsNumbers) {
  EXPECT_EQ(parse("Integer(-7)"), SymbolicInt(-7));
  EXPECT_FALSE(parse("Integer(3)").isSymbolic());
}

TEST(SymbolicInt, PrintsInfix) {
  EXPECT_EQ(toString(parse(s0)), "s0");
  EXPECT_EQ(toString(parse("Add(Mul(Integer(2), " + s0 + "), Integer(1))")), "2*s0 + 1");
  EXPECT_EQ(toString(parse("Add(" + s0 + ", Integer(-1))")), "s0 - 1");
  EXPECT_EQ(toString(parse("Mul(Integer(3), Add(" + s0 + ", " + s1 + "))")), "3*(s0 + s1)");
  EXPECT_EQ(toString(parse("FloorDiv(Add(" + s0 + ", Integer(3)), Integer(2))")), "(s0 + 3)//2");
  EXPECT_EQ(toString(parse("FloorDiv(" + s0 + ", FloorDiv(" + s1 + ", Integer(2)))")), "s0//(s1//2)");
  EXPECT_EQ(toString(parse("Max(Integer(1), Mod(" + s0 + ", Integer(4)))")), "max(1, s0 % 4)");
  EXPECT_EQ(toString(parse("Min(Integer(1), Pow(" + s0 + ", Integer(2)))")), "min(1, s0**2)");
  EXPECT_EQ(toString(SymbolicInt(12)), "12");
}

TEST(SymbolicInt, EvaluatesAsPythonDoes) {
  EXPECT_EQ(valueOf("Add(Mul(Integer(2), " + s0 + ", " + s1 + "), Integer(1))", 5, 3), 31);
  EXPECT_EQ(valueOf("FloorDiv(" + s0 + ", Integer(2))", -7), -4);
  EXPECT_EQ(valueOf("PythonMod(" + s0 + ", Integer(4))", -7), 1);
  EXPECT_EQ(valueOf("CleanDiv(" + s0 + ", Integer(4))", 12), 3);
  EXPECT_EQ(valueOf("PowByNatural(" + s0 + ", Integer(3))", 5), 125);
  EXPECT_EQ(valueOf("Max(" + s0 + ", " + s1 + ")", 5, 9), 9);
  EXPECT_EQ(valueOf("Min(" + s0 + ", " + s1 + ")", 5, 9), 5);
}

TEST(SymbolicInt, ComparesByExpression) {
  EXPECT_EQ(parse("Add(" + s0 + ", Integer(1))"), parse("Add(" + s0 + ", Integer(1))"));
  EXPECT_FALSE(parse(s0) == parse(s1));
  EXPECT_FALSE(parse(s0) == SymbolicInt(0));
}

TEST(SymbolicInt, CollectsSymbols) {
  std::set<std::string> symbols;
  collectSymbols(parse("Add(Mul(Integer(2), " + s0 + "), " + s1 + ")"), symbols);
  EXPECT_THAT(symbols, ::testing::ElementsAre("s0", "s1"));
}

TEST(SymbolicInt, RefusesWhatItCannotRead) {
  EXPECT_EQ(parseError("Rational(1, 2)"), "integer function 'Rational' is not supported");
  EXPECT_EQ(parseError("Integer(two)"), "malformed integer 'two)'");
  EXPECT_EQ(parseError("Mod(" + s0 + ")"), "integer function 'Mod' needs two operands");
  EXPECT_EQ(parseError("Add(Integer(1)"), "malformed integer expression 'Add(Integer(1)'");
  EXPECT_EQ(parseError("12"), "malformed integer expression '12'");
  EXPECT_EQ(parseError(""), "malformed integer expression ''");
  EXPECT_EQ(parseError("Symbol('', integer=True)"), "a symbol without a name");
  EXPECT_EQ(parseError("Integer(1) x"), "unexpected ' x' after an integer expression in 'Integer(1) x'");
}

TEST(SymbolicInt, RefusesDeepNesting) {
  std::string text;
  for (int i = 0; i < 100000; ++i)
    text += "Add(";
  EXPECT_THAT(parseError(text), ::testing::StartsWith("malformed integer expression"));
}

TEST(SymbolicInt, RefusesWhatHasNoValue) {
  SymbolBindings bindings;
  EXPECT_EQ(evaluateError(s0, bindings), "symbol 's0' has no value");
  bindings["s0"] = 0;
  EXPECT_EQ(evaluateError("FloorDiv(Integer(1), " + s0 + ")", bindings), "'1//s0' has no 64-bit integer value");
  bindings["s0"] = INT64_MAX;
  EXPECT_EQ(evaluateError("Add(" + s0 + ", Integer(1))", bindings), "'s0 + 1' has no 64-bit integer value");
  EXPECT_EQ(evaluateError("Mul(" + s0 + ", Integer(2))", bindings), "'s0*2' has no 64-bit integer value");
  EXPECT_EQ(evaluateError("Pow(Integer(2), " + s0 + ")", bindings), "'2**s0' has no 64-bit integer value");
}

} // namespace
