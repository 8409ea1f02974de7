//===- build_values.cpp - words, numbers, expressions, paths ---------------===//
//
// Every node keeps its text and its range, from which later messages quote the plan. The range ends on the line on
// which it begins, because a diagnostic shows one line.
//
//===----------------------------------------------------------------------===//

#include "compiler/frontend/parse/build.h"
#include "compiler/frontend/parse/spacing.h"
#include "compiler/frontend/parse/tokens.h"
#include "compiler/frontend/path_pattern.h"

#include "llvm/ADT/StringRef.h"

#include <cstdlib>
#include <utility>

using namespace meshplan;
using namespace meshplan::build;

SourceRange SyntaxContext::range(const antlr4::Token &token) const { return rangeOf(token, file); }

SourceRange SyntaxContext::range(const antlr4::Token &first, const antlr4::Token &last) const {
  SourceRange result = rangeOf(first, file);
  for (size_t i = first.getTokenIndex(); i <= last.getTokenIndex(); ++i) {
    const antlr4::Token &token = *tokens.get(i);
    if (token.getChannel() == antlr4::Token::DEFAULT_CHANNEL && token.getLine() == first.getLine() &&
        //
        token.getType() != Parser::NEWLINE)
      result.endColumn = rangeOf(token, file).endColumn;
  }
  return result;
}

SourceRange SyntaxContext::range(const antlr4::ParserRuleContext &rule) const { return range(*rule.start, *rule.stop); }

std::string SyntaxContext::text(const antlr4::Token &first, const antlr4::Token &last) const {
  return joinTokens(tokens.getTokens(first.getTokenIndex(), last.getTokenIndex()));
}

std::string SyntaxContext::text(const antlr4::ParserRuleContext &rule) const { return text(*rule.start, *rule.stop); }

Word build::word(const SyntaxContext &context, const antlr4::ParserRuleContext &rule) {
  return {withoutQuotes(rule.start->getText()), context.range(rule)};
}

namespace {

std::optional<int64_t> integerOf(llvm::StringRef digits) {
  int64_t value = 0;
  if (digits.getAsInteger(10, value))
    return std::nullopt;
  return value;
}

Expression node(const SyntaxContext &context, Expression::Kind kind, const antlr4::ParserRuleContext &rule) {
  Expression result;
  result.kind = kind;
  result.range = context.range(rule);
  result.text = context.text(rule);
  return result;
}

Expression integer(const SyntaxContext &context, const antlr4::ParserRuleContext &rule) {
  Expression result = node(context, Expression::Kind::Integer, rule);
  std::string digits = rule.start->getText();
  if (std::optional<int64_t> value = integerOf(digits))
    result.integer = *value;
  else if (llvm::StringRef(digits).find_first_of(".eE") != llvm::StringRef::npos)
    context.diagnostics.error(result.range, "'" + digits + "' is not an integer");
  else
    context.diagnostics.error(result.range, digits + " does not fit in 64 bits");
  return result;
}

Expression factor(const SyntaxContext &context, Parser::FactorContext &rule) {
  if (rule.expression() != nullptr)
    return expression(context, *rule.expression());
  if (rule.NUMBER() != nullptr)
    return integer(context, rule);
  if (rule.axisName() != nullptr) {
    Expression result = node(context, Expression::Kind::Name, rule);
    result.name = rule.start->getText();
    return result;
  }
  Expression result = node(context, Expression::Kind::Negate, rule);
  result.operands.push_back(factor(context, *rule.factor()));
  return result;
}

/// A chain becomes a tree as deep as the chain is long, and trees are walked recursively.
bool isTooLong(const SyntaxContext &context, const antlr4::ParserRuleContext &rule, size_t operands) {
  constexpr size_t mostOperands = 100;
  if (operands > mostOperands)
    context.diagnostics.error(context.range(rule),
                              "an expression has at most " + std::to_string(mostOperands) + " operands in a row");
  return operands > mostOperands;
}

/// Adds one operand to a left-associative chain.
Expression chain(const SyntaxContext &context, Expression left, llvm::StringRef op, Expression right,
                 const antlr4::Token &first, const antlr4::Token &last) {
  Expression result;
  result.kind = op == "+"   ? Expression::Kind::Add
                : op == "-" ? Expression::Kind::Subtract
                : op == "*" ? Expression::Kind::Multiply
                            : Expression::Kind::Divide;
  result.operands = {std::move(left), std::move(right)};
  result.range = context.range(first, last);
  result.text = context.text(first, last);
  return result;
}

Expression product(const SyntaxContext &context, Parser::ProductContext &rule) {
  std::vector<Parser::FactorContext *> factors = rule.factor();
  Expression result = factor(context, *factors[0]);
  if (isTooLong(context, rule, factors.size()))
    return result;
  for (size_t i = 1; i < factors.size(); ++i)
    result = chain(context, std::move(result), rule.children[2 * i - 1]->getText(), factor(context, *factors[i]),
                   *rule.start, *factors[i]->stop);
  return result;
}

} // namespace

Expression build::expression(const SyntaxContext &context, Parser::ExpressionContext &rule) {
  std::vector<Parser::ProductContext *> products = rule.product();
  Expression result = product(context, *products[0]);
  if (isTooLong(context, rule, products.size()))
    return result;
  for (size_t i = 1; i < products.size(); ++i)
    result = chain(context, std::move(result), rule.children[2 * i - 1]->getText(), product(context, *products[i]),
                   *rule.start, *products[i]->stop);
  return result;
}

Number build::number(const SyntaxContext &context, Parser::NumberContext &rule) {
  bool isNegative = rule.start->getType() == Parser::MINUS;
  const antlr4::Token &first = isNegative ? *context.tokens.get(rule.start->getTokenIndex() + 1) : *rule.start;
  std::string text = context.text(first, *rule.stop);
  auto [digits, unit] = llvm::StringRef(text).split(' ');
  std::string written = (isNegative ? "-" : "") + digits.str();
  Number result;
  result.value = std::strtod(written.c_str(), nullptr);
  result.integer = integerOf(written);
  result.unit = unit.str();
  result.range = context.range(rule);
  return result;
}

PathPattern build::path(const SyntaxContext &context, Parser::PathContext &rule) {
  PathPattern result;
  result.literal = rule.STRING() != nullptr;
  result.text = result.literal ? withoutQuotes(rule.start->getText()) : canonicalText(*rule.start);
  result.range = context.range(rule);
  return result;
}

std::vector<PathPattern> build::paths(const SyntaxContext &context, Parser::PathsContext &rule) {
  std::vector<PathPattern> result;
  for (Parser::PathContext *path : rule.path())
    result.push_back(build::path(context, *path));
  return result;
}

std::vector<Word> build::axes(const SyntaxContext &context, Parser::AxesContext &rule) {
  std::vector<Word> result;
  for (Parser::AxisNameContext *axis : rule.axisName())
    result.push_back(word(context, *axis));
  return result;
}

std::vector<DimSyntax> build::dims(const SyntaxContext &context, Parser::DimsContext &rule) {
  std::vector<DimSyntax> result;
  for (Parser::DimContext *dim : rule.dim()) {
    DimSyntax syntax;
    syntax.name = word(context, *dim->word());
    if (dim->expression() != nullptr)
      syntax.extent = expression(context, *dim->expression());
    if (dim->axes() != nullptr)
      syntax.axes = axes(context, *dim->axes());
    syntax.range = context.range(*dim);
    result.push_back(std::move(syntax));
  }
  return result;
}
