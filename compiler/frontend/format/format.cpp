//===- format.cpp - from tokens to canonical lines -------------------------===//
//
// Statements are collected from the token stream, comments included, as lines of
// parts; lines.cpp then aligns and breaks them. A token decides:
//
//   end of line, `;`   ends the statement
//   `{`                keeps the whole block on its line if it is written on one
//                      line and fits; else ends the line and indents
//   `}`                ends the line and dedents
//   `:` of an entry    ends the key, which is aligned with its neighbours
//   `,` and comments   end a part, after which the line may be broken
//
//===----------------------------------------------------------------------===//

#include "compiler/frontend/format.h"

#include "compiler/frontend/format/lines.h"
#include "compiler/frontend/parse/spacing.h"
#include "compiler/frontend/parse/tokens.h"
#include "compiler/frontend/syntax.h"

#include "llvm/ADT/StringRef.h"

#include <utility>

using namespace meshplan;
using namespace meshplan::format;
using antlr4::Token;
using grammar::PlanLexer;

namespace {

bool isComment(const Token &token) {
  return token.getType() == PlanLexer::LINE_COMMENT || token.getType() == PlanLexer::BLOCK_COMMENT;
}

bool isEnd(const Token &token) {
  return token.getType() == PlanLexer::NEWLINE || token.getType() == PlanLexer::SEMICOLON;
}

/// The last line of a token; a block comment may have several.
size_t lastLine(const Token &token) {
  if (token.getType() != PlanLexer::BLOCK_COMMENT)
    return token.getLine();
  return token.getLine() + llvm::StringRef(token.getText()).count('\n');
}

/// Collects the tokens of one statement as text.
class Statement {
public:
  bool empty() const { return line.key.empty() && line.parts.empty() && text.empty(); }

  void add(const Token &token);

  /// Adds the end of a statement inside a block on one line.
  void addEnd() { pendingSemicolon = last == nullptr || last->getType() != PlanLexer::LEFT_BRACE; }

  Line take();

private:
  bool needsSpace(const Token &token) const;

  /// True for `input a: [...]`, which is not an entry.
  bool isValue() const { return (first->getText() == "input" || first->getText() == "output") && last != first; }

  Line line;
  std::string text;
  const Token *first = nullptr;
  const Token *beforeLast = nullptr;
  const Token *last = nullptr;
  bool pendingSemicolon = false;
};

} // namespace

void Statement::add(const Token &token) {
  if (pendingSemicolon && token.getType() != PlanLexer::RIGHT_BRACE)
    text += ';';
  pendingSemicolon = false;
  if (!text.empty() && needsSpace(token))
    text += ' ';
  text += isComment(token) ? llvm::StringRef(token.getText()).rtrim().str() : canonicalText(token);
  if (first == nullptr)
    first = &token;
  if (token.getType() == PlanLexer::COLON && line.key.empty() && line.parts.empty() && !isValue())
    line.key = std::exchange(text, "");
  else if (token.getType() == PlanLexer::COMMA || token.getType() == PlanLexer::LINE_COMMENT)
    line.parts.push_back({std::exchange(text, ""), token.getType() == PlanLexer::LINE_COMMENT});
  beforeLast = last;
  last = &token;
}

/// The last part has no comma that would have ended it.
Line Statement::take() {
  if (!text.empty())
    line.parts.push_back({text, false});
  return std::move(line);
}

bool Statement::needsSpace(const Token &token) const {
  if (last->getType() == PlanLexer::LEFT_BRACE && token.getType() == PlanLexer::RIGHT_BRACE)
    return false;
  return spaceBetween(beforeLast, *last, token);
}

namespace {

class Formatter {
public:
  explicit Formatter(std::vector<Token *> all);
  std::string run();

private:
  void append(const Token &token);

  /// Ends the statement, if there is one.
  void flush();
  void push(Line line);

  /// Adds a comment. After a statement it stays on the statement's line; inside one it is part of it; others have their
  /// own line.
  void comment(size_t i);
  size_t closing(size_t open) const;

  /// Opens a block, or adds the whole block if it may stay on one line. Returns the index of the last token that was
  /// used.
  size_t brace(size_t open);
  bool fitsOnLine(size_t open, size_t close) const;
  void close(const Token &token);

  std::vector<const Token *> tokens;
  std::vector<Line> lines;
  Statement statement;
  size_t depth = 0;
  size_t startLine = 0;    ///< first line of the current statement
  size_t previousLine = 0; ///< line of the last token
  size_t endLine = 0;      ///< last line of the last pushed statement
  bool isFirstInBlock = true;
};

} // namespace

Formatter::Formatter(std::vector<Token *> all) {
  for (Token *token : all)
    if (token->getType() != Token::EOF && (token->getChannel() == Token::DEFAULT_CHANNEL || isComment(*token)))
      tokens.push_back(token);
}

std::string Formatter::run() {
  for (size_t i = 0; i < tokens.size(); ++i) {
    const Token &token = *tokens[i];
    if (isComment(token))
      comment(i);
    else if (isEnd(token))
      flush();
    else if (token.getType() == PlanLexer::LEFT_BRACE)
      i = brace(i);
    else if (token.getType() == PlanLexer::RIGHT_BRACE)
      close(token);
    else
      append(token);
  }
  flush();
  return render(lines);
}

void Formatter::append(const Token &token) {
  if (statement.empty())
    startLine = token.getLine();
  statement.add(token);
  previousLine = lastLine(token);
}

void Formatter::flush() {
  if (statement.empty())
    return;
  push(std::exchange(statement, Statement()).take());
}

void Formatter::push(Line line) {
  line.depth = depth;
  line.blankBefore = !lines.empty() && !isFirstInBlock && startLine > endLine + 1;
  lines.push_back(std::move(line));
  endLine = previousLine;
  isFirstInBlock = false;
}

void Formatter::comment(size_t i) {
  const Token &token = *tokens[i];
  bool endsHere = i + 1 == tokens.size() || isEnd(*tokens[i + 1]);
  std::string text = llvm::StringRef(token.getText()).rtrim().str();
  if (!statement.empty() && !endsHere) {
    append(token);
    return;
  }
  // A statement may have ended before the comment on its line, as `a: rowwise tp; // why` does. Decided before flush(),
  // which empties the statement.
  bool isAfter = !statement.empty() || (!lines.empty() && endLine == token.getLine());
  flush();
  if (isAfter && lines.back().comment.empty() && !lines.back().parts.empty()) {
    lines.back().comment = text;
    endLine = lastLine(token);
    return;
  }
  startLine = token.getLine();
  previousLine = lastLine(token);
  push({0, false, "", {{text, false}}, ""});
}

size_t Formatter::closing(size_t open) const {
  int level = 0;
  for (size_t i = open; i < tokens.size(); ++i) {
    level += tokens[i]->getType() == PlanLexer::LEFT_BRACE;
    level -= tokens[i]->getType() == PlanLexer::RIGHT_BRACE;
    if (level == 0)
      return i;
  }
  return tokens.size() - 1;
}

size_t Formatter::brace(size_t open) {
  size_t close = closing(open);
  if (fitsOnLine(open, close)) {
    for (size_t i = open; i <= close; ++i)
      isEnd(*tokens[i]) ? statement.addEnd() : append(*tokens[i]);
    return close;
  }
  append(*tokens[open]);
  flush();
  ++depth;
  isFirstInBlock = true;
  return open;
}

bool Formatter::fitsOnLine(size_t open, size_t close) const {
  bool isEmpty = true;
  for (size_t i = open + 1; i < close; ++i)
    isEmpty &= isEnd(*tokens[i]);
  if (isEmpty)
    return true;
  if (tokens[open]->getLine() != tokens[close]->getLine() || depth == 0)
    return false;
  Statement whole = statement;
  for (size_t i = open; i <= close; ++i)
    isEnd(*tokens[i]) ? whole.addEnd() : whole.add(*tokens[i]);
  Line line = whole.take();
  size_t width = 2 * depth + widthOf(line.key) + !line.key.empty();
  for (const Part &part : line.parts)
    width += widthOf(part.text) + 1;
  // Each part was counted with a space after it, the last one, too.
  return width <= lineWidth + 1;
}

void Formatter::close(const Token &token) {
  flush();
  --depth;
  isFirstInBlock = true;
  append(token);
}

std::optional<std::string> meshplan::formatPlan(const SourceBuffer &source, Diagnostics &diagnostics) {
  if (!parsePlan(source, diagnostics))
    return std::nullopt;
  std::unique_ptr<PlanTokens> tokens = readTokens(source, diagnostics);
  return Formatter(tokens->stream().getTokens()).run();
}
