//===- build_values_test.cpp - numbers, expressions and words of a plan ---===//

#include "test/unit/frontend/models.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

using namespace meshplan;
using namespace meshplan::test;

namespace {

/// The value of `let x = TEXT`; a test failure if there is none.
Expression readExpression(const std::string &text) {
  Outcome outcome = parse("plan p {\nlet x = " + text + "\n}\n");
  EXPECT_EQ(outcome.text, "") << text;
  return outcome.syntax ? outcome.syntax->lets.at(0).value : Expression();
}

/// The first line of its error.
std::string fault(const std::string &text) {
  std::string all = parse("plan p {\nlet x = " + text + "\n}\n").text;
  return all.substr(0, all.find('\n'));
}

int64_t valueOf(const Expression &expression) {
  auto operand = [&](size_t index) { return valueOf(expression.operands.at(index)); };
  switch (expression.kind) {
  case Expression::Kind::Integer:
    return expression.integer;
  case Expression::Kind::Name:
    return expression.name.size();
  case Expression::Kind::Negate:
    return -operand(0);
  case Expression::Kind::Add:
    return operand(0) + operand(1);
  case Expression::Kind::Subtract:
    return operand(0) - operand(1);
  case Expression::Kind::Multiply:
    return operand(0) * operand(1);
  case Expression::Kind::Divide:
    return operand(1) == 0 ? 0 : operand(0) / operand(1);
  }
  return 0;
}

/// A text without needless parentheses.
struct Drawn {
  std::string text;
  int binding; ///< 1: a sum, 2: a product, 3: a factor
};

Drawn draw(std::mt19937 &random, int depth) {
  int kind = depth == 0 ? 0 : random() % 6;
  if (kind < 2)
    return {std::to_string(depth + random() % 7), 3};
  if (kind == 2) {
    Drawn inner = draw(random, depth - 1);
    return {"-" + (inner.binding < 3 ? "(" + inner.text + ")" : inner.text), 3};
  }
  bool isSum = kind < 5;
  const char *op = isSum ? (random() % 2 ? " + " : " - ") : (random() % 2 ? " * " : " / ");
  Drawn left = draw(random, depth - 1), right = draw(random, depth - 1);
  // The left operand may bind as tightly as the operator, the right one must bind more tightly.
  int own = isSum ? 1 : 2;
  std::string leftText = left.binding < own ? "(" + left.text + ")" : left.text;
  std::string rightText = right.binding <= own ? "(" + right.text + ")" : right.text;
  return {leftText + op + rightText, own};
}

/// The value of a text by the usual rules of precedence.
class Reference {
public:
  explicit Reference(const std::string &text) : text(text) {}
  int64_t sum() {
    int64_t value = product();
    while (at < text.size() && text[at] == ' ' && (text[at + 1] == '+' || text[at + 1] == '-')) {
      bool adds = text[at + 1] == '+';
      at += 3;
      int64_t right = product();
      value = adds ? value + right : value - right;
    }
    return value;
  }

private:
  int64_t product() {
    int64_t value = factor();
    while (at < text.size() && text[at] == ' ' && (text[at + 1] == '*' || text[at + 1] == '/')) {
      bool multiplies = text[at + 1] == '*';
      at += 3;
      int64_t right = factor();
      value = multiplies ? value * right : right == 0 ? 0 : value / right;
    }
    return value;
  }
  int64_t factor() {
    if (text[at] == '-') {
      ++at;
      return -factor();
    }
    if (text[at] == '(') {
      ++at;
      int64_t value = sum();
      ++at;
      return value;
    }
    int64_t value = 0;
    while (at < text.size() && isdigit(text[at]))
      value = value * 10 + (text[at++] - '0');
    return value;
  }

  const std::string &text;
  size_t at = 0;
};

TEST(BuildValues, ExpressionsBindAsUsual) {
  std::mt19937 random(3);
  for (int index = 0; index < 300; ++index) {
    Drawn drawn = draw(random, 4);
    Expression expression = readExpression(drawn.text);
    EXPECT_EQ(valueOf(expression), Reference(drawn.text).sum()) << drawn.text;
    // The text of an expression in parentheses is that of its content.
    EXPECT_EQ(readExpression("(" + drawn.text + ")").text, expression.text) << drawn.text;
  }
}

TEST(BuildValues, TextIsNormal) {
  for (auto [written, normal] : {std::pair("2*3", "2 * 3"),
                                 {"2  *\t3 /* why */ + 4", "2 * 3 + 4"},
                                 {"(1+2)*n", "(1 + 2) * n"},
                                 {"n", "n"},
                                 {"((7))", "7"}})
    EXPECT_EQ(readExpression(written).text, normal);
}

TEST(BuildValues, NamesMayBeKeywordsAndUnits) {
  for (const char *name : {"n", "world", "data", "s", "MiB", "mesh", "_x1"}) {
    EXPECT_EQ(readExpression(name).kind, Expression::Kind::Name) << name;
    EXPECT_EQ(readExpression(name).name, name);
  }
}

TEST(BuildValues, IntegersAreWholeAndFit) {
  EXPECT_EQ(readExpression("9223372036854775807").integer, INT64_MAX);
  EXPECT_EQ(fault("9223372036854775808"), "p.plan:2:9: error: 9223372036854775808 does not fit in 64 bits");
  EXPECT_EQ(fault("1.5"), "p.plan:2:9: error: '1.5' is not an integer");
  EXPECT_EQ(fault("1e3"), "p.plan:2:9: error: '1e3' is not an integer");
  EXPECT_EQ(readExpression("007").integer, 7);
}

TEST(BuildValues, ChainsHaveAnEnd) {
  auto chain = [](int operands, const char *op) {
    std::string text = "1";
    for (int index = 1; index < operands; ++index)
      text += op + std::string("1");
    return text;
  };
  for (const char *op : {" + ", " * "}) {
    EXPECT_EQ(valueOf(readExpression(chain(100, op))), op[1] == '+' ? 100 : 1);
    EXPECT_EQ(fault(chain(101, op)), "p.plan:2:9: error: an expression has at most 100 operands in a row");
  }
}

/// The number of `clip_grad_norm TEXT`.
Number number(const std::string &text) {
  Outcome outcome = parse("plan p {\nclip_grad_norm " + text + "\n}\n");
  EXPECT_EQ(outcome.text, "") << text;
  return outcome.syntax ? outcome.syntax->clips.at(0).norm : Number();
}

TEST(BuildValues, NumbersHaveValuesAndUnits) {
  struct {
    const char *text;
    double value;
    std::optional<int64_t> integer;
    const char *unit;
  } cases[] = {{"1", 1, 1, ""},
               {"-1", -1, -1, ""},
               {"- 2.5", -2.5, std::nullopt, ""},
               {"3e-4", 3e-4, std::nullopt, ""},
               {"1E+2", 100, std::nullopt, ""},
               {"64 MiB", 64, 64, "MiB"},
               {"64MiB", 64, 64, "MiB"},
               {"1.5GB", 1.5, std::nullopt, "GB"},
               {"90 %", 90, 90, "%"},
               {"90%", 90, 90, "%"},
               {"25 us", 25, 25, "us"},
               {"9223372036854775808", 9223372036854775808.0, std::nullopt, ""},
               {"-9223372036854775808", -9223372036854775808.0, INT64_MIN, ""}};
  for (auto [text, value, integer, unit] : cases) {
    Number readExpression = number(text);
    EXPECT_DOUBLE_EQ(readExpression.value, value) << text;
    EXPECT_EQ(readExpression.integer, integer) << text;
    EXPECT_EQ(readExpression.unit, unit) << text;
  }
  EXPECT_EQ(number("-64 MiB").range, (SourceRange{0, 2, 16, 23}));
}

TEST(BuildValues, StringsLoseTheirQuotesAndBackslashes) {
  for (auto [quoted, text] : {std::pair(R"("a b")", "a b"), {R"("")", ""}, {R"("a\"b\\c")", "a\"b\\c"}})
    EXPECT_EQ(parse(std::string("plan p {\nmodel ") + quoted + "\n}\n").syntax->models.at(0).file, text);
}

TEST(BuildValues, DimsHaveANameAnExtentAndAxes) {
  Outcome outcome =
      parse("plan p {\ninput \"x y\", 0, a.b: [batch = 2*n over (dp, tp), _, over over tp]\noutput z: []\n}\n");
  ASSERT_EQ(outcome.text, "");
  const ValueStatement &input = outcome.syntax->values.at(0);
  std::vector<std::string> names;
  for (const Word &name : input.names)
    names.push_back(name.text);
  EXPECT_THAT(names, testing::ElementsAre("x y", "0", "a.b"));
  ASSERT_EQ(input.dims.size(), 3u);
  EXPECT_EQ(input.dims[0].name.text, "batch");
  EXPECT_EQ(input.dims[0].extent->text, "2 * n");
  EXPECT_EQ(input.dims[0].axes.size(), 2u);
  EXPECT_EQ(input.dims[0].range, (SourceRange{0, 2, 23, 48}));
  EXPECT_EQ(input.dims[1].name.text, "_");
  EXPECT_FALSE(input.dims[1].extent);
  EXPECT_TRUE(input.dims[1].axes.empty());
  EXPECT_EQ(input.dims[2].name.text, "over") << "a keyword may name a dim";
  EXPECT_EQ(input.dims[2].axes.at(0).text, "tp");
  EXPECT_FALSE(outcome.syntax->values.at(1).isInput);
  EXPECT_TRUE(outcome.syntax->values.at(1).dims.empty());
}

} // namespace
