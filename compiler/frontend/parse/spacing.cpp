//===- spacing.cpp - the canonical text of tokens --------------------------===//
//
// Diagnostics quote a plan, and the formatter writes it. Both use one spacing, whatever the spaces of the file.
//
//===----------------------------------------------------------------------===//

#include "compiler/frontend/parse/spacing.h"

#include "grammar/PlanLexer.h"

#include "llvm/ADT/StringRef.h"

using namespace meshplan;
using antlr4::Token;
using grammar::PlanLexer;

namespace {

std::string canonicalPath(llvm::StringRef text) {
  std::string result;
  bool pendingSpace = false, isQuoted = false, isEscaped = false;
  for (char c : text) {
    isQuoted ^= c == '"' && !isEscaped;
    isEscaped = isQuoted && c == '\\' && !isEscaped;
    if (!isQuoted && (c == ' ' || c == '\t')) {
      pendingSpace = true;
      continue;
    }
    // The only significant spaces are those around the `by` of a range.
    if (pendingSpace && c != ',' && c != '}' && !result.empty() && result.back() != '{' && result.back() != ' ')
      result += ' ';
    pendingSpace = false;
    result += c;
    if (c == ',' && !isQuoted)
      result += ' ';
  }
  return result;
}

/// True for a minus that belongs to the number after it, as in `eps -1e-8`.
bool isSign(const Token *before, const Token &minus, const Token &right) {
  if (minus.getStopIndex() + 1 != right.getStartIndex())
    return false;
  if (before == nullptr)
    return true;
  switch (before->getType()) {
  case PlanLexer::LEFT_PAREN:
  case PlanLexer::LEFT_BRACKET:
  case PlanLexer::COMMA:
  case PlanLexer::EQUAL:
  case PlanLexer::STAR:
  case PlanLexer::SLASH:
  case PlanLexer::PLUS:
  case PlanLexer::MINUS:
    return true;
  default:
    return before->getStopIndex() + 1 != minus.getStartIndex();
  }
}

} // namespace

std::string meshplan::canonicalText(const Token &token) {
  std::string text = token.getText();
  if (token.getType() == PlanLexer::PATH)
    return canonicalPath(text);
  if (token.getType() == PlanLexer::QUANTITY)
    text.insert(text.find_first_not_of("0123456789."), " ");
  return text;
}

bool meshplan::spaceBetween(const Token *beforeLeft, const Token &left, const Token &right) {
  switch (right.getType()) {
  case PlanLexer::COMMA:
  case PlanLexer::SEMICOLON:
  case PlanLexer::COLON:
  case PlanLexer::RIGHT_PAREN:
  case PlanLexer::RIGHT_BRACKET:
    return false;
  }
  switch (left.getType()) {
  case PlanLexer::LEFT_PAREN:
  case PlanLexer::LEFT_BRACKET:
    return false;
  case PlanLexer::MINUS:
    return !isSign(beforeLeft, left, right);
  default:
    return true;
  }
}

std::string meshplan::joinTokens(const std::vector<Token *> &tokens) {
  std::string result;
  const Token *beforeLeft = nullptr;
  const Token *left = nullptr;
  for (Token *token : tokens) {
    if (token->getChannel() != Token::DEFAULT_CHANNEL || token->getType() == PlanLexer::NEWLINE)
      continue;
    if (left != nullptr && spaceBetween(beforeLeft, *left, *token))
      result += ' ';
    result += canonicalText(*token);
    beforeLeft = left;
    left = token;
  }
  return result;
}
