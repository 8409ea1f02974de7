//===- expectations.cpp - the text of syntax errors ------------------------===//
//
// The parser expects a set of tokens, such as 30 keywords or a number, a word and a path where any operand may be. A
// message names what a person would write there, and for a statement that has begun its form.
//
//===----------------------------------------------------------------------===//

#include "compiler/frontend/parse/expectations.h"

#include "compiler/frontend/parse/tokens.h"
#include "compiler/frontend/statement_forms.h"
#include "grammar/PlanParser.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <utility>

using namespace meshplan;
using antlr4::Token;
using grammar::PlanParser;

namespace {

/// The name of a class of tokens, or the token itself.
std::string describeType(size_t type, const antlr4::misc::IntervalSet &expected) {
  switch (type) {
  case PlanParser::NEWLINE:
  case PlanParser::SEMICOLON:
    return "end of line";
  case PlanParser::NUMBER:
  case PlanParser::QUANTITY:
    return "a number";
  case PlanParser::STRING:
    return "a string";
  case PlanParser::NAME:
    return expected.contains(static_cast<size_t>(PlanParser::PATH)) ? "a path" : "a name";
  case PlanParser::PATH:
    return "a path";
  case Token::EOF:
    return "end of file";
  }
  return "";
}

/// A set of expected tokens without those that are implied by others.
class Expected {
public:
  Expected(const antlr4::misc::IntervalSet &set, const antlr4::dfa::Vocabulary &vocabulary) : set(set) {
    for (ssize_t type : set.toList())
      literals.emplace_back(static_cast<size_t>(type), vocabulary.getLiteralName(static_cast<size_t>(type)));
  }

  std::vector<std::string> names() const {
    std::vector<std::string> result;
    for (const auto &[type, literal] : literals) {
      std::string name = describeType(type, set);
      if (name.empty())
        name = literal;
      if (!isImplied(type, literal) && !name.empty() && !llvm::is_contained(result, name))
        result.push_back(name);
    }
    return result;
  }

private:
  bool has(size_t type) const { return set.contains(type); }
  bool hasLiteral(llvm::StringRef text) const {
    return llvm::any_of(literals, [&](const auto &token) { return token.second == text; });
  }

  bool isImplied(size_t type, llvm::StringRef literal) const {
    bool isWord = literal.size() > 2 && llvm::isAlpha(literal[1]);
    bool endsName = llvm::is_contained({"'over'", "'on'", "'keep'"}, literal);
    // Wherever `split` is possible, every keyword is.
    if (has(PlanParser::NAME) && (type == PlanParser::UNIT || (isWord && (!endsName || hasLiteral("'split'")))))
      return true;
    if (has(PlanParser::PATH) && (type == PlanParser::STAR || type == PlanParser::STRING))
      return true;
    // A number alone counts as a name; together with quantities it is a number.
    if (has(PlanParser::PATH) && type == PlanParser::NUMBER && !has(PlanParser::QUANTITY))
      return true;
    bool isOutside = has(Token::EOF) || (hasLiteral("'plan'") && !has(PlanParser::NAME));
    if (isOutside && (type == PlanParser::NEWLINE || type == PlanParser::SEMICOLON))
      return true;
    return type == PlanParser::MINUS && has(PlanParser::NUMBER);
  }

  const antlr4::misc::IntervalSet &set;
  std::vector<std::pair<size_t, std::string>> literals;
};

} // namespace

std::string meshplan::describeToken(const Token &token) {
  if (token.getType() == Token::EOF)
    return "end of file";
  if (token.getType() == PlanParser::NEWLINE && !isImpliedEnd(token))
    return "end of line";
  return "'" + token.getText() + "'";
}

std::string meshplan::describeExpected(const antlr4::misc::IntervalSet &expected,
                                       const antlr4::dfa::Vocabulary &vocabulary) {
  constexpr size_t mostNamed = 5;
  std::vector<std::string> names = Expected(expected, vocabulary).names();
  if (names.empty() || names.size() > mostNamed)
    return "";
  std::string result = names.front();
  for (size_t i = 1; i < names.size(); ++i)
    result += (i + 1 == names.size() ? " or " : ", ") + names[i];
  return result;
}

std::string meshplan::entryForm() { return "the form of an entry is 'PATH: STYLE AXIS, output LAYOUT'"; }

std::string meshplan::planForm() { return "the form of a plan is 'plan NAME { STATEMENTS }'"; }

std::string meshplan::statementForm(const antlr4::RuleContext *context) {
  for (; context != nullptr; context = static_cast<const antlr4::RuleContext *>(context->parent)) {
    switch (context->getRuleIndex()) {
    case PlanParser::RuleOptionBlock:
    case PlanParser::RuleBlock:
    case PlanParser::RulePlan:
      return "";
    case PlanParser::RulePlacementItem:
      return "the form is 'parameter { NAME: LAYOUT; NAME: LAYOUT }'";
    case PlanParser::RuleEntry:
      return entryForm();
    case PlanParser::RuleItem: // after a whole statement
    case PlanParser::RuleStatement: {
      const auto *statement = static_cast<const antlr4::ParserRuleContext *>(context);
      return keywordForm(statement->start->getText());
    }
    }
  }
  return "";
}
