//===- symbolic_int_test.cpp - integers computed from input dims *- C++ -*-===//

#include "compiler/archive/symbolic_int.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace meshplan::archive;

namespace {

const std::string s0 = "Symbol('s0', positive=True, integer=True)";
const std::string s1 = "Symbol('s1', integer=True)";

SymbolicInt parseInt(const std::string &text) {
  llvm::Expected<SymbolicInt> parsed = parseSymbolicInt(text);
  if (parsed)
    return *parsed;
  ADD_FAILURE() << llvm::toString(parsed.takeError());
  return 0;
}

std::string parseIntError(const std::string &text) {
  llvm::Expected<SymbolicInt> parsed = parseSymbolicInt(text);
  return parsed ? "no error" : llvm::toString(parsed.takeError());
}

int64_t evaluated(const std::string &text, int64_t first, int64_t second = 0) {
  SymbolBindings bindings;
  bindings["s0"] = first;
  bindings["s1"] = second;
  llvm::Expected<int64_t> value = evaluate(parseInt(text), bindings);
  if (value)
    return *value;
  ADD_FAILURE() << llvm::toString(value.takeError());
  return 0;
}

std::string evaluateError(const std::string &text, const SymbolBindings &bindings) {
  llvm::Expected<int64_t> value = evaluate(parseInt(text), bindings);
  return value ? "no error" : llvm::toString(value.takeError());
}

TEST(SymbolicInt, KnowsNumbers) {
  EXPECT_EQ(parseInt("Integer(-7)"), SymbolicInt(-7));
  EXPECT_FALSE(parseInt("Integer(3)").isSymbolic());
}

TEST(SymbolicInt, PrintsInfix) {
  EXPECT_EQ(toString(parseInt(s0)), "s0");
  EXPECT_EQ(toString(parseInt("Add(Mul(Integer(2), " + s0 + "), Integer(1))")), "2*s0 + 1");
  EXPECT_EQ(toString(parseInt("Add(" + s0 + ", Integer(-1))")), "s0 - 1");
  EXPECT_EQ(toString(parseInt("Mul(Integer(3), Add(" + s0 + ", " + s1 + "))")), "3*(s0 + s1)");
  EXPECT_EQ(toString(parseInt("FloorDiv(Add(" + s0 + ", Integer(3)), Integer(2))")), "(s0 + 3)//2");
  EXPECT_EQ(toString(parseInt("FloorDiv(" + s0 + ", FloorDiv(" + s1 + ", Integer(2)))")), "s0//(s1//2)");
  EXPECT_EQ(toString(parseInt("Max(Integer(1), Mod(" + s0 + ", Integer(4)))")), "max(1, s0 % 4)");
  EXPECT_EQ(toString(parseInt("Min(Integer(1), Pow(" + s0 + ", Integer(2)))")), "min(1, s0**2)");
  EXPECT_EQ(toString(SymbolicInt(12)), "12");
}

TEST(SymbolicInt, TheTextIsPythonOfTheSameValue) {
  const std::string sum = "Add(" + s0 + ", " + s1 + ")";
  const std::pair<std::string, const char *> cases[] = {
      {"Add(" + s0 + ", Mul(Integer(-1), " + s1 + "))", "s0 - 1*s1"},
      {"Add(" + s0 + ", Add(Integer(-1), " + s1 + "))", "s0 - 1 + s1"},
      {"Add(" + s0 + ", FloorDiv(Integer(-7), " + s1 + "))", "s0 + -7//s1"}, // s0 - 7//s1 differs
      {"Add(" + s0 + ", Mod(Integer(-7), " + s1 + "))", "s0 + -7 % s1"},
      {"Add(" + s0 + ", Max(Integer(-7), " + s1 + "))", "s0 + max(-7, s1)"},
      {"Mul(" + s0 + ", Integer(-2))", "s0*-2"},
      {"FloorDiv(Mul(" + s0 + ", Integer(3)), " + sum + ")", "(s0*3)//(s0 + s1)"},
      {"Mul(FloorDiv(" + s0 + ", Integer(2)), Integer(2))", "(s0//2)*2"},
      {"Mod(Mod(" + s0 + ", Integer(4)), Integer(3))", "(s0 % 4) % 3"},
      {"Pow(Pow(" + s0 + ", Integer(2)), Integer(3))", "(s0**2)**3"},
      {"Pow(Integer(-2), " + s0 + ")", "(-2)**s0"}, // -2**s0 is never above 0
      {"Add(" + s1 + ", Mul(Pow(Integer(-2), " + s0 + "), " + s1 + "))", "s1 + (-2)**s0*s1"},
      {"Mul(Integer(2), Pow(" + s0 + ", Integer(2)))", "2*s0**2"},
      {"Max(" + s0 + ", " + s1 + ", Integer(4))", "max(s0, s1, 4)"},
      {"Min(" + sum + ")", "min(s0 + s1)"},
      {"Mul(Integer(2), Integer(3))", "2*3"},
  };
  for (const auto &[text, printed] : cases)
    EXPECT_EQ(toString(parseInt(text)), printed) << text;
}

TEST(SymbolicInt, DivisionIsFloorDivisionForAllSigns) {
  // As in Python: 7 // 2, -7 // 2, 7 // -2, -7 // -2, and the same for %.
  const int64_t cases[][4] = {{7, 2, 3, 1}, {-7, 2, -4, 1}, {7, -2, -4, -1}, {-7, -2, 3, -1},
                              {6, 2, 3, 0}, {-6, 2, -3, 0}, {6, -2, -3, 0},  {0, -5, 0, 0}};
  for (auto [left, right, quotient, remainder] : cases) {
    EXPECT_EQ(evaluated("FloorDiv(" + s0 + ", " + s1 + ")", left, right), quotient) << left << " // " << right;
    EXPECT_EQ(evaluated("Mod(" + s0 + ", " + s1 + ")", left, right), remainder) << left << " % " << right;
  }
}

TEST(SymbolicInt, OperatorsTakeSeveralOperands) {
  EXPECT_EQ(evaluated("Add(" + s0 + ", " + s1 + ", Integer(4), Integer(-9))", 5, 3), 3);
  EXPECT_EQ(evaluated("Max(" + s0 + ", Integer(7), " + s1 + ")", 5, 3), 7);
  EXPECT_EQ(evaluated("Min(" + s0 + ", Integer(7), " + s1 + ")", 5, 3), 3);
  EXPECT_EQ(evaluated("Add(" + s0 + ")", 5), 5);
  EXPECT_EQ(evaluated("Pow(" + s0 + ", Integer(0))", 0), 1);
  EXPECT_EQ(evaluated("Pow(Integer(-2), Integer(63))", 0), INT64_MIN);
}

TEST(SymbolicInt, EvaluatesAsPythonDoes) {
  EXPECT_EQ(evaluated("Add(Mul(Integer(2), " + s0 + ", " + s1 + "), Integer(1))", 5, 3), 31);
  EXPECT_EQ(evaluated("FloorDiv(" + s0 + ", Integer(2))", -7), -4);
  EXPECT_EQ(evaluated("PythonMod(" + s0 + ", Integer(4))", -7), 1);
  EXPECT_EQ(evaluated("CleanDiv(" + s0 + ", Integer(4))", 12), 3);
  EXPECT_EQ(evaluated("PowByNatural(" + s0 + ", Integer(3))", 5), 125);
  EXPECT_EQ(evaluated("Max(" + s0 + ", " + s1 + ")", 5, 9), 9);
  EXPECT_EQ(evaluated("Min(" + s0 + ", " + s1 + ")", 5, 9), 5);
}

TEST(SymbolicInt, ComparesByExpression) {
  EXPECT_EQ(parseInt("Add(" + s0 + ", Integer(1))"), parseInt("Add(" + s0 + ", Integer(1))"));
  EXPECT_FALSE(parseInt(s0) == parseInt(s1));
  EXPECT_FALSE(parseInt(s0) == SymbolicInt(0));
}

TEST(SymbolicInt, CollectsSymbols) {
  std::set<std::string> symbols;
  collectSymbols(parseInt("Add(Mul(Integer(2), " + s0 + "), " + s1 + ")"), symbols);
  EXPECT_THAT(symbols, ::testing::ElementsAre("s0", "s1"));
}

TEST(SymbolicInt, RefusesWhatItCannotRead) {
  EXPECT_EQ(parseIntError("Rational(1, 2)"), "symbolic function 'Rational' is not supported");
  EXPECT_EQ(parseIntError("Integer(two)"), "malformed integer 'two)'");
  // Nothing is skipped: the number would be another one.
  EXPECT_EQ(parseIntError("Integer(2 + 3)"), "malformed integer '2 + 3)'");
  EXPECT_EQ(parseIntError("Integer(2, 3)"), "malformed integer '2, 3)'");
  EXPECT_EQ(parseIntError("Integer(12abc)"), "malformed integer '12abc)'");
  EXPECT_EQ(parseIntError("Integer()"), "malformed integer ')'");
  EXPECT_EQ(parseIntError("Integer(9223372036854775808)"), "malformed integer '9223372036854775808)'");
  EXPECT_EQ(parseInt(" Integer( 12 ) "), SymbolicInt(12)) << "but spaces";
  EXPECT_EQ(parseIntError("Add(Symbol(s0), " + s1 + ")"), "a symbol without a name");
  EXPECT_EQ(parseIntError("Symbol('s0)"), "malformed symbolic expression 'Symbol('s0)'");
  EXPECT_EQ(parseIntError("Add(" + s0 + " " + s1 + ")"), "malformed symbolic expression 'Add(" + s0 + " " + s1 + ")'");
  EXPECT_EQ(parseIntError("Add(" + s0 + ",)"), "malformed symbolic expression ')'");
  EXPECT_EQ(parseIntError("Add()"), "malformed symbolic expression ')'");
  EXPECT_EQ(parseIntError("FloorDiv(" + s0 + ", " + s1 + ", " + s1 + ")"),
            "symbolic function 'FloorDiv' takes 2 operands, and this has 3");
  EXPECT_EQ(parseIntError("Mod(" + s0 + ")"), "symbolic function 'Mod' takes 2 operands, and this has 1");
  EXPECT_EQ(parseIntError("Add(Integer(1)"), "malformed symbolic expression 'Add(Integer(1)'");
  EXPECT_EQ(parseIntError("12"), "malformed symbolic expression '12'");
  EXPECT_EQ(parseIntError(""), "malformed symbolic expression ''");
  EXPECT_EQ(parseIntError("Symbol('', integer=True)"), "a symbol without a name");
  EXPECT_EQ(parseIntError("Integer(1) x"), "unexpected ' x' after a symbolic expression in 'Integer(1) x'");
}

TEST(SymbolicInt, RefusesDeepNesting) {
  std::string text;
  for (int i = 0; i < 100000; ++i)
    text += "Add(";
  EXPECT_THAT(parseIntError(text), ::testing::StartsWith("malformed symbolic expression"));
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
  EXPECT_EQ(evaluateError("Pow(Integer(2), Integer(63))", bindings), "'2**63' has no 64-bit integer value");
  EXPECT_EQ(evaluateError("Pow(Integer(2), Integer(-1))", bindings), "'2**-1' has no 64-bit integer value");
  bindings["s0"] = INT64_MIN;
  EXPECT_EQ(evaluateError("FloorDiv(" + s0 + ", Integer(-1))", bindings), "'s0//-1' has no 64-bit integer value");
  bindings["s0"] = 4;
  EXPECT_EQ(evaluateError("ToFloat(" + s0 + ")", bindings), "'float(s0)' is not an integer");
}

} // namespace
