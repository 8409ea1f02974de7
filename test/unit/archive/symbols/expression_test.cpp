//===- expression_test.cpp - floats that depend on input dims ---*- C++ -*-===//
//
// Integers are tested in symbolic_int_test.cpp. Expected values are Python's.
//
//===----------------------------------------------------------------------===//

#include "compiler/archive/symbols/expression.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

using namespace meshplan::archive;

namespace {

const std::string symbol = "Symbol('s0', positive=True, integer=True)";
const std::string real = "ToFloat(" + symbol + ")";

std::string number(const std::string &text) { return "Float('" + text + "', precision=53)"; }

std::string call(const std::string &function, const std::string &left, const std::string &right) {
  return function + "(" + left + ", " + right + ")";
}

SymbolicExpressionPtr parse(const std::string &text) {
  llvm::Expected<SymbolicExpressionPtr> parsed = parseExpression(text);
  if (parsed)
    return *parsed;
  ADD_FAILURE() << text << ": " << llvm::toString(parsed.takeError());
  return std::make_shared<SymbolicExpression>();
}

std::string parseError(const std::string &text) {
  llvm::Expected<SymbolicExpressionPtr> parsed = parseExpression(text);
  return parsed ? "no error" : llvm::toString(parsed.takeError());
}

llvm::Expected<SymbolicValue> evaluateAt(const std::string &text, int64_t extent) {
  SymbolBindings bindings;
  bindings["s0"] = extent;
  return evaluate(*parse(text), bindings);
}

SymbolicValue valueAt(const std::string &text, int64_t extent) {
  llvm::Expected<SymbolicValue> value = evaluateAt(text, extent);
  if (value)
    return *value;
  ADD_FAILURE() << text << ": " << llvm::toString(value.takeError());
  return false;
}

std::string errorAt(const std::string &text, int64_t extent) {
  llvm::Expected<SymbolicValue> value = evaluateAt(text, extent);
  return value ? "no error" : llvm::toString(value.takeError());
}

TEST(SymbolicExpression, FloatsOfASize) {
  const std::pair<std::string, double> cases[] = {
      {real, 7.0},
      {call("FloatTrueDiv", number("1.0"), real), 1.0 / 7},
      {call("IntTrueDiv", symbol, "Integer(3)"), 7.0 / 3},
      {call("Mul", number("0.33333333333333331"), real), 7 * (1.0 / 3)},
      {call("Mul", "Integer(-1)", call("FloatTrueDiv", number("1.0"), real)), -1.0 / 7},
      {call("Add", real, number("0.5")), 7.5},
      {call("Pow", real, "Integer(2)"), 49.0},
      {call("FloatPow", real, number("-0.5")), std::pow(7.0, -0.5)},
      {"OpaqueUnaryFn_sqrt(" + real + ")", std::sqrt(7.0)},
      {"OpaqueUnaryFn_log2(" + real + ")", std::log2(7.0)},
      {call("Max", number("1.5"), call("IntTrueDiv", symbol, "Integer(3)")), 7.0 / 3},
      {call("Min", number("1.5"), real), 1.5},
      {"TruncToFloat(" + call("Mul", number("-0.5"), real) + ")", -3.0},
      {call("RoundDecimal", call("IntTrueDiv", symbol, "Integer(3)"), "Integer(2)"), 2.33},
      {call("RoundDecimal", number("2.675"), "Integer(2)"), 2.67}, // 2.675 is below 2.675
  };
  for (const auto &[text, expected] : cases)
    EXPECT_EQ(valueAt(text, 7), SymbolicValue(expected)) << text;
}

TEST(SymbolicExpression, WholeNumbersOfFloats) {
  const std::string halves = call("Mul", number("0.5"), real), below = call("Mul", number("-0.5"), real);
  const std::tuple<const char *, int64_t, int64_t, int64_t> cases[] = {
      // Of 2.5, 3.5 and -2.5, as in Python.
      {"FloorToInt", 2, 3, -3},
      {"CeilToInt", 3, 4, -2},
      {"TruncToInt", 2, 3, -2},
      {"RoundToInt", 2, 4, -2},
  };
  for (auto [function, five, seven, minus] : cases) {
    EXPECT_EQ(valueAt(std::string(function) + "(" + halves + ")", 5), SymbolicValue(five)) << function;
    EXPECT_EQ(valueAt(std::string(function) + "(" + halves + ")", 7), SymbolicValue(seven)) << function;
    EXPECT_EQ(valueAt(std::string(function) + "(" + below + ")", 5), SymbolicValue(minus)) << function;
    EXPECT_EQ(valueAt(std::string(function) + "(" + symbol + ")", 5), SymbolicValue(int64_t(5))) << "of an integer";
  }
}

TEST(SymbolicExpression, BitsOfASize) {
  const std::pair<const char *, int64_t> cases[] = {{"BitwiseFn_bitwise_or", 7},
                                                    {"BitwiseFn_bitwise_and", 2},
                                                    {"BitwiseFn_bitwise_xor", 5},
                                                    {"LShift", 48},
                                                    {"RShift", 0}};
  for (auto [function, expected] : cases)
    EXPECT_EQ(valueAt(call(function, symbol, "Integer(3)"), 6), SymbolicValue(expected)) << function;
}

TEST(SymbolicExpression, ComparisonsAndChoices) {
  const std::string six = "Integer(6)";
  const std::tuple<const char *, bool, bool, bool> cases[] = {
      // Of 5, 6 and 7 with 6.
      {"Equality", false, true, false},          {"Unequality", true, false, true},
      {"StrictLessThan", true, false, false},    {"LessThan", true, true, false},
      {"StrictGreaterThan", false, false, true}, {"GreaterThan", false, true, true},
  };
  for (auto [function, five, same, seven] : cases) {
    EXPECT_EQ(valueAt(call(function, symbol, six), 5), SymbolicValue(five)) << function;
    EXPECT_EQ(valueAt(call(function, symbol, six), 6), SymbolicValue(same)) << function;
    EXPECT_EQ(valueAt(call(function, real, number("6.0")), 7), SymbolicValue(seven)) << function;
  }
  const std::string large = call("StrictGreaterThan", symbol, six), small = "Not(" + large + ")";
  EXPECT_EQ(valueAt(call("And", large, small), 7), SymbolicValue(false));
  EXPECT_EQ(valueAt(call("Or", large, small), 7), SymbolicValue(true));
  EXPECT_EQ(valueAt(call("And", large, "true"), 7), SymbolicValue(true));
  const std::string piecewise =
      call("Piecewise", call("ExprCondPair", call("FloatTrueDiv", number("1.0"), real), large),
           call("ExprCondPair", call("Mul", number("2.0"), real), "true"));
  EXPECT_EQ(valueAt(piecewise, 8), SymbolicValue(0.125));
  EXPECT_EQ(valueAt(piecewise, 0), SymbolicValue(0.0)) << "the other value, which it has not, is not asked for";
  EXPECT_EQ(valueAt("Where(" + large + ", Integer(1), Integer(2))", 7), SymbolicValue(int64_t(1)));
}

TEST(SymbolicExpression, TheTextIsPythonOfTheSameValue) {
  const std::pair<std::string, const char *> cases[] = {
      {call("FloatTrueDiv", number("1.0"), real), "1.0/float(s0)"},
      {call("Mul", number("0.33333333333333331"), real), "0.3333333333333333*float(s0)"},
      {call("Mul", number("2.0"), call("IntTrueDiv", symbol, "Integer(3)")), "2.0*(s0/3)"},
      {call("FloatPow", call("Add", real, number("0.5")), number("-0.5")), "(float(s0) + 0.5)**-0.5"},
      {"OpaqueUnaryFn_sqrt(" + real + ")", "sqrt(float(s0))"},
      {"TruncToInt(" + call("Mul", number("1e+30"), real) + ")", "trunc(1e+30*float(s0))"},
      {call("RoundDecimal", real, "Integer(2)"), "round(float(s0), 2)"},
      {call("And", call("StrictGreaterThan", symbol, "Integer(6)"),
            "Not(" + call("Equality", symbol, "Integer(8)") + ")"),
       "s0 > 6 and not(s0 == 8)"},
      {call("Piecewise", call("ExprCondPair", real, call("LessThan", symbol, "Integer(6)")),
            call("ExprCondPair", number("2.0"), "true")),
       "piecewise(float(s0) if s0 <= 6, 2.0 if True)"},
  };
  for (const auto &[text, printed] : cases)
    EXPECT_EQ(toString(*parse(text)), printed) << text;
}

TEST(SymbolicExpression, RefusesWhatItCannotRead) {
  EXPECT_EQ(parseError("Float('one', precision=53)"), "malformed float ''one', precision=53)'");
  EXPECT_EQ(parseError("Float(1.0)"), "malformed float '1.0)'");
  EXPECT_EQ(parseError("OpaqueUnaryFn_gamma(" + symbol + ")"),
            "symbolic function 'OpaqueUnaryFn_gamma' is not supported");
  EXPECT_EQ(parseError(call("ToFloat", symbol, symbol)), "symbolic function 'ToFloat' takes 1 operand, and this has 2");
  EXPECT_EQ(parseError(call("Add", symbol, call("ExprCondPair", symbol, "true"))),
            "symbolic function 'Add' and its operands do not go together");
  EXPECT_EQ(parseError(call("Piecewise", symbol, symbol)),
            "symbolic function 'Piecewise' and its operands do not go together");
  EXPECT_EQ(parseError(call("ExprCondPair", "Integer(1)", "true")),
            "malformed symbolic expression 'ExprCondPair(Integer(1), true)'");
  EXPECT_EQ(parseError("true x"), "unexpected ' x' after a symbolic expression in 'true x'");
}

TEST(SymbolicExpression, RefusesWhatHasNoValue) {
  EXPECT_EQ(errorAt(call("FloatTrueDiv", number("1.0"), real), 0), "'1.0/float(s0)' has no value");
  EXPECT_EQ(errorAt(call("IntTrueDiv", "Integer(1)", symbol), 0), "'1/s0' has no value");
  EXPECT_EQ(errorAt(call("FloatPow", call("Mul", number("-1.0"), real), number("0.5")), 2),
            "'(-1.0*float(s0))**0.5' has no value");
  EXPECT_EQ(errorAt("TruncToInt(" + call("Mul", number("1e+30"), real) + ")", 2),
            "'trunc(1e+30*float(s0))' has no value");
  EXPECT_EQ(errorAt("OpaqueUnaryFn_log(" + real + ")", 0), "'log(float(s0))' has no value");
  EXPECT_EQ(errorAt(call("LShift", symbol, "Integer(70)"), 2), "'s0 << 70' has no 64-bit integer value");
  EXPECT_EQ(errorAt(call("RoundDecimal", real, "Integer(-1)"), 25), "'round(float(s0), -1)' has no value");
  EXPECT_EQ(
      errorAt(call("Piecewise", call("ExprCondPair", symbol, "false"), call("ExprCondPair", symbol, "false")), 25),
      "'piecewise(s0 if False, s0 if False)' has no value");
}

} // namespace
