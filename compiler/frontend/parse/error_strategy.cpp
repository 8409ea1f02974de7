//===- error_strategy.cpp - syntax errors in the user's words --------------===//
//
// The default strategy of ANTLR repairs the input: it deletes a token, or inserts one that is missing, and parses on.
// That yields errors about text that the user did not write. Here each statement has at most one error, which is about
// the token where parsing stopped; the rest of the statement is skipped, and the next one is parsed as usual, so that
// errors in different statements are all reported by one run.

#include "compiler/frontend/parse/error_strategy.h"

#include "compiler/frontend/parse/expectations.h"
#include "compiler/frontend/parse/tokens.h"
#include "compiler/frontend/statement_forms.h"
#include "compiler/support/nearest.h"
#include "grammar/PlanParser.h"

#include "llvm/ADT/STLExtras.h"

using namespace meshplan;
using antlr4::Token;
using grammar::PlanParser;

namespace {

bool holdsItems(size_t rule) {
  return rule == PlanParser::RulePlan || rule == PlanParser::RuleBlock || rule == PlanParser::RuleOptionBlock ||
         rule == PlanParser::RuleParameterClause;
}

/// The brace of this type among the children of a rule, if there is one.
const Token *braceOf(const antlr4::ParserRuleContext *context, size_t type) {
  for (antlr4::tree::ParseTree *child : context->children)
    if (auto *leaf = dynamic_cast<antlr4::tree::TerminalNode *>(child))
      if (leaf->getSymbol()->getType() == type)
        return leaf->getSymbol();
  return nullptr;
}

/// The innermost unclosed brace, where the file ends although a statement could end.
const Token *openBrace(const antlr4::ParserRuleContext *context) {
  for (; context != nullptr; context = static_cast<const antlr4::ParserRuleContext *>(context->parent))
    if (const Token *brace = braceOf(context, PlanParser::LEFT_BRACE))
      return brace;
  return nullptr;
}

/// The brace that the user has probably not closed: the first one whose closing brace begins a line further left than
/// the line of the brace itself; `open`, which the parser finds unclosed, if there is none.
///
/// Example: in `m {` / `  n {` / `    a: replicate` / `}` the parser takes the brace for that of `n`, but it is below
/// `m`.
const Token *unclosedBrace(antlr4::TokenStream &tokens, const Token *open) {
  struct Opened {
    const Token *brace;
    size_t indentation; // of its line
  };
  std::vector<Opened> opened;
  size_t line = 0, indentation = 0;
  for (size_t index = 0; index < tokens.size(); ++index) {
    const Token *token = tokens.get(index);
    if (token->getType() == PlanParser::NEWLINE)
      continue;
    bool beginsLine = token->getLine() != line;
    if (beginsLine)
      line = token->getLine(), indentation = token->getCharPositionInLine();
    if (token->getType() == PlanParser::LEFT_BRACE) {
      opened.push_back({token, indentation});
    } else if (token->getType() == PlanParser::RIGHT_BRACE && !opened.empty()) {
      if (beginsLine && indentation < opened.back().indentation)
        return opened.back().brace;
      opened.pop_back();
    }
  }
  return open;
}

/// The innermost rule of this kind that is being parsed, or null.
const antlr4::ParserRuleContext *within(const antlr4::ParserRuleContext *context, size_t rule) {
  while (context != nullptr && context->getRuleIndex() != rule)
    context = static_cast<const antlr4::ParserRuleContext *>(context->parent);
  return context;
}

bool isInEntry(const antlr4::ParserRuleContext *context) { return within(context, PlanParser::RuleEntry) != nullptr; }

/// The help for a colon after the name of an option or of a statement, which have none; empty elsewhere.
std::string colonHelp(antlr4::Parser &parser, const Token &found) {
  const antlr4::ParserRuleContext *context = parser.getContext();
  const Token *before = parser.getTokenStream()->LT(-1);
  if (found.getText() == ":" && before != nullptr && within(context, PlanParser::RuleOptionBlock) != nullptr)
    return optionHome(before->getText()).empty() ? "options have no colon, and entries come after the '}' of this block"
                                                 : "options have no colon: write '" + before->getText() + " VALUE'";
  const antlr4::ParserRuleContext *entry = within(context, PlanParser::RuleEntry);
  std::string first = entry != nullptr ? entry->start->getText() : "";
  return first == "rest" || first == "override" ? "" : keywordForm(first);
}

/// The help for an error at `found`: the form of what the user may have meant; empty if unknown.
std::string formAt(const antlr4::ParserRuleContext *context, const Token &found) {
  if (found.getText() == "plan" && braceOf(context, PlanParser::RIGHT_BRACE) != nullptr)
    return "a file holds one plan";
  if (openBrace(context) == nullptr)
    return planForm();
  if (found.getText() == "parts" && isInEntry(context))
    return "'parts' comes after the axis, without a comma: 'colwise tp parts 3'";
  if (found.getText() == "override" && isInEntry(context))
    return "write 'override' before the path: 'override PATH: STYLE'";
  return statementForm(context);
}

/// True for `colwise tp output [...]`: the word before the bracket begins a clause of its own.
bool lacksComma(antlr4::Parser &parser, const Token &found) {
  Token *before = found.getType() == PlanParser::LEFT_BRACKET ? parser.getTokenStream()->LT(-1) : nullptr;
  return before != nullptr && (before->getText() == "output" || before->getText() == "input");
}

/// Skips to the end of the statement, over nested blocks but not over the brace that closes the enclosing block.
void skipStatement(antlr4::Parser &parser) {
  int depth = 0;
  for (size_t type = parser.getInputStream()->LA(1); type != Token::EOF; type = parser.getInputStream()->LA(1)) {
    bool ends = type == PlanParser::NEWLINE || type == PlanParser::SEMICOLON || type == PlanParser::RIGHT_BRACE;
    if (depth == 0 && ends)
      return;
    if (type == PlanParser::LEFT_BRACE)
      ++depth;
    else if (type == PlanParser::RIGHT_BRACE)
      --depth;
    parser.consume();
  }
}

} // namespace

void PlanErrorStrategy::reportMismatch(antlr4::Parser &parser, const Token &found,
                                       const antlr4::misc::IntervalSet &expected) {
  bool isUnclosed = found.getType() == Token::EOF && expected.contains(static_cast<size_t>(PlanParser::NEWLINE));
  const Token *brace = isUnclosed ? openBrace(parser.getContext()) : nullptr;
  std::string wanted = brace != nullptr ? "'}'" : describeExpected(expected, parser.getVocabulary());
  std::string message =
      wanted.empty() ? "unexpected " + describeToken(found) : "expected " + wanted + ", found " + describeToken(found);
  Diagnostic &diagnostic = diagnostics.error(rangeOf(found, file), message);
  std::string colon = colonHelp(parser, found);
  if (brace != nullptr)
    diagnostic.note(rangeOf(*unclosedBrace(*parser.getTokenStream(), brace), file), "this block is not closed")
        .help("close it with '}'");
  else if (!colon.empty())
    diagnostic.help(colon);
  else
    diagnostic.help(lacksComma(parser, found) ? "write a comma before 'input' and 'output' of an entry"
                                              : formAt(parser.getContext(), found));
}

void PlanErrorStrategy::reportNoAlternative(antlr4::Parser &parser, const Token &start, const Token &found) {
  size_t rule = parser.getContext()->getRuleIndex();
  bool begins = rule == PlanParser::RuleStatement || rule == PlanParser::RuleItem || rule == PlanParser::RuleBlockItem;
  if (!begins || &start == &found) {
    diagnostics.error(rangeOf(found, file), "unexpected " + describeToken(found))
        .help(formAt(parser.getContext(), found));
    return;
  }
  std::string text = start.getText();
  if (std::string form = keywordForm(text); !form.empty()) {
    if (rule == PlanParser::RuleBlockItem && text != "override" && text != "rest") {
      diagnostics.error(rangeOf(start, file), "'" + text + "' is not allowed in a block of paths")
          .help("only entries and blocks are allowed there: move the statement out of the block");
      return;
    }
    diagnostics.error(rangeOf(found, file), "unexpected " + describeToken(found) + " after '" + text + "'").help(form);
    return;
  }
  if (std::string home = optionHome(text); !home.empty()) {
    diagnostics.error(rangeOf(start, file), "unknown statement '" + text + "'").help(home);
    return;
  }
  std::vector<std::string> near = nearestNames(text, statementKeywords());
  if (start.getType() == PlanParser::NAME && !near.empty()) {
    diagnostics.error(rangeOf(start, file), "unknown statement '" + text + "'")
        .help("did you mean " + quotedList(near) + "?");
    return;
  }
  std::string form = entryForm();
  if (found.getText() == ",")
    form = "one entry for several paths is '{PATH, PATH}: STYLE AXIS'";
  else if (found.getText() == "-")
    form = "a '-' belongs to a path only without spaces around it";
  else if (found.getText() == "/" || found.getText() == "+")
    form = "quote a path with characters other than letters, digits, '_', '-' and '.'";
  diagnostics.error(rangeOf(found, file), "expected ':' or '{' after '" + text + "', found " + describeToken(found))
      .help(form);
}

void PlanErrorStrategy::reportError(antlr4::Parser *parser, const antlr4::RecognitionException &error) {
  if (inErrorRecoveryMode(parser))
    return;
  beginErrorCondition(parser);
  if (const auto *none = dynamic_cast<const antlr4::NoViableAltException *>(&error))
    reportNoAlternative(*parser, *none->getStartToken(), *none->getOffendingToken());
  else
    reportMismatch(*parser, *error.getOffendingToken(), error.getExpectedTokens());
}

void PlanErrorStrategy::recover(antlr4::Parser *parser, std::exception_ptr) { skipStatement(*parser); }

// Never inserts or deletes a token.
Token *PlanErrorStrategy::recoverInline(antlr4::Parser *parser) { throw antlr4::InputMismatchException(parser); }

void PlanErrorStrategy::sync(antlr4::Parser *parser) {
  if (inErrorRecoveryMode(parser))
    return;
  const antlr4::atn::ATN &atn = parser->getATN();
  antlr4::misc::IntervalSet next = atn.nextTokens(atn.states[parser->getState()]);
  size_t type = parser->getInputStream()->LA(1);
  if (next.contains(Token::EPSILON) || next.contains(type))
    return;
  antlr4::InputMismatchException error(parser);
  const antlr4::ParserRuleContext *context = parser->getContext();
  if (!holdsItems(context->getRuleIndex()) || braceOf(context, PlanParser::LEFT_BRACE) == nullptr)
    throw error;
  // Between two statements of a block: report, and continue with the next statement instead of leaving the block. All
  // text after the plan is one error.
  reportError(parser, error);
  skipStatement(*parser);
  while (braceOf(context, PlanParser::RIGHT_BRACE) != nullptr && parser->getInputStream()->LA(1) != Token::EOF)
    parser->consume();
}
