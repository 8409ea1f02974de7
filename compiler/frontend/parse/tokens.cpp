//===- tokens.cpp - from text to the tokens of the parser ------------------===//

#include "compiler/frontend/parse/tokens.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/ConvertUTF.h"

#include <algorithm>

using namespace meshplan;
using antlr4::CommonToken;
using antlr4::Token;
using grammar::PlanLexer;

namespace {

using TokenList = std::vector<std::unique_ptr<Token>>;

/// Deeper nesting would exhaust the stack of a recursive parser.
constexpr int deepestNesting = 200;

bool endsStatement(size_t type) { return type == PlanLexer::NEWLINE || type == PlanLexer::SEMICOLON; }

/// A copy of a part of a token.
std::unique_ptr<CommonToken> cut(Token &token, size_t type, size_t begin, size_t end) {
  auto piece = std::make_unique<CommonToken>(&token);
  piece->setType(type);
  piece->setStartIndex(token.getStartIndex() + begin);
  piece->setStopIndex(token.getStartIndex() + end - 1);
  piece->setCharPositionInLine(token.getCharPositionInLine() + begin);
  piece->setText(token.getText().substr(begin, end - begin));
  return piece;
}

/// The type of the piece if it is lexed alone, so that spaces around the stars make no difference.
size_t typeAlone(const std::string &piece) {
  antlr4::ANTLRInputStream stream(piece);
  PlanLexer lexer(&stream);
  lexer.removeErrorListeners();
  std::unique_ptr<Token> token = lexer.nextToken();
  bool isAll = token->getText() == piece;
  return isAll ? token->getType() : size_t{PlanLexer::PATH};
}

/// Appends `tp*2` as three tokens.
void appendProduct(Token &token, TokenList &out) {
  std::string text = token.getText();
  for (size_t begin = 0; begin < text.size();) {
    size_t end = text[begin] == '*' ? begin + 1 : std::min(text.find('*', begin), text.size());
    out.push_back(cut(token, typeAlone(text.substr(begin, end - begin)), begin, end));
    begin = end;
  }
}

bool isProduct(const Token &token) {
  if (token.getType() != PlanLexer::PATH)
    return false;
  std::string text = token.getText();
  return text.find('*') != std::string::npos && text.find_first_of(".{") == std::string::npos;
}

bool touches(const Token &left, const Token &right) { return left.getStopIndex() + 1 == right.getStartIndex(); }

/// True for a word, a number or a path: a piece of `layers.0.user-id`.
bool isNamePiece(const Token &token) {
  size_t type = token.getType();
  bool isPath = type == PlanLexer::PATH || type == PlanLexer::STAR;
  bool isNumber = type == PlanLexer::NUMBER || type == PlanLexer::QUANTITY;
  return isPath || isNumber || llvm::all_of(token.getText(), [](char c) { return llvm::isAlnum(c) || c == '_'; });
}

/// True if the minus at `i` is followed by a piece of a name, without a space between them.
bool joinsNames(const TokenList &tokens, size_t i) {
  return i + 1 < tokens.size() && tokens[i]->getType() == PlanLexer::MINUS && isNamePiece(*tokens[i + 1]) &&
         touches(*tokens[i], *tokens[i + 1]);
}

/// Replaces the tokens from `first` to `last` by one path.
void join(TokenList &tokens, size_t first, size_t last) {
  auto &token = static_cast<CommonToken &>(*tokens[first]);
  std::string text;
  for (size_t i = first; i <= last; ++i)
    text += tokens[i]->getText();
  token.setType(PlanLexer::PATH);
  token.setStopIndex(tokens[last]->getStopIndex());
  token.setText(text);
}

/// True if the bracket at `open` is closed before a brace or a semicolon. An unclosed one would hide the end of every
/// later statement, and the error would be reported far from its cause.
bool isClosed(const TokenList &tokens, size_t open) {
  int depth = 0;
  for (size_t i = open; i < tokens.size(); ++i) {
    switch (tokens[i]->getType()) {
    case PlanLexer::LEFT_PAREN:
    case PlanLexer::LEFT_BRACKET:
      ++depth;
      break;
    case PlanLexer::RIGHT_PAREN:
    case PlanLexer::RIGHT_BRACKET:
      if (--depth == 0)
        return true;
      break;
    case PlanLexer::LEFT_BRACE:
    case PlanLexer::RIGHT_BRACE:
    case PlanLexer::SEMICOLON:
      return false;
    }
  }
  return false;
}

/// Applies the four rules of tokens.h, token by token.
///
/// Example, in `mesh dp = world / tp*2, tp = 3 }`: `tp*2` is one PATH token of the lexer. It comes after an equals
/// sign, so it becomes the tokens `tp`, `*`, `2`. Before the closing brace an empty NEWLINE is inserted, which ends the
/// statement.
class Adjuster {
public:
  TokenList run(TokenList in);

private:
  static size_t endOfName(const TokenList &in, size_t i);
  void trackBrackets(const TokenList &in, size_t i);
  void append(std::unique_ptr<Token> token);
  void appendImpliedEnd(Token &brace);
  bool startsStatement() const { return endsStatement(last) || last == PlanLexer::LEFT_BRACE; }

  void trackExpression(size_t type);
  void trackValue(size_t type);

  TokenList out;
  int depth = 0;
  size_t last = PlanLexer::NEWLINE;
  bool inValue = false;
  std::vector<bool> inExpression = {false};
};

/// The first bracket that is nested too deeply, or npos. Comments and strings are skipped as in the lexer; a closing
/// bracket without an opening one is ignored.
size_t findTooDeep(llvm::StringRef text) {
  int depth = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    llvm::StringRef rest = text.substr(i);
    if (rest.starts_with("//")) {
      i += std::min(rest.find('\n'), rest.size());
    } else if (rest.starts_with("/*")) {
      i += std::min(rest.find("*/", 2), rest.size());
    } else if (text[i] == '"') {
      for (++i; i < text.size() && text[i] != '"' && text[i] != '\n'; ++i)
        i += text[i] == '\\';
    } else if (llvm::StringRef("{[(").contains(text[i])) {
      if (++depth > deepestNesting)
        return i;
    } else if (llvm::StringRef("}])").contains(text[i])) {
      depth = std::max(depth - 1, 0);
    }
  }
  return llvm::StringRef::npos;
}

/// Checks the text before the recursive lexer and parser run on it.
bool checkText(const SourceBuffer &source, Diagnostics &diagnostics) {
  if (source.text().starts_with("PK\x03\x04")) {
    diagnostics.error({source.file()}, "this is an archive, not a plan")
        .help("a plan names its model: 'model \"FILE.pt2\"'; 'meshplan init' drafts one");
    return false;
  }
  const auto *begin = reinterpret_cast<const llvm::UTF8 *>(source.text().bytes_begin());
  const auto *end = reinterpret_cast<const llvm::UTF8 *>(source.text().bytes_end());
  if (!llvm::isLegalUTF8String(&begin, end)) {
    auto line = static_cast<int32_t>(1 + std::count(source.text().bytes_begin(), begin, '\n'));
    diagnostics.error({source.file()}, "line " + std::to_string(line) + " is not UTF-8 text")
        .help("a plan is a text file");
    return false;
  }
  size_t tooDeep = findTooDeep(source.text());
  if (tooDeep == llvm::StringRef::npos)
    return true;
  auto line = static_cast<int32_t>(1 + source.text().take_front(tooDeep).count('\n'));
  diagnostics.error({source.file(), line, 1, 1},
                    "brackets are nested more than " + std::to_string(deepestNesting) + " deep");
  return false;
}

/// Reports unreadable text, and long runs of signs, over which the parser recurses as over brackets.
bool checkTokens(PlanTokens &tokens, int32_t file, Diagnostics &diagnostics) {
  size_t before = diagnostics.errorCount();
  int signs = 0;
  for (Token *token : tokens.stream().getTokens()) {
    SourceRange range = rangeOf(*token, file);
    if (token->getChannel() == Token::DEFAULT_CHANNEL && token->getType() != PlanLexer::NEWLINE)
      signs = token->getType() == PlanLexer::MINUS ? signs + 1 : 0;
    if (signs == deepestNesting + 1)
      diagnostics.error(range, "more than " + std::to_string(deepestNesting) + " minus signs in a row");
    SourceRange start{range.file, range.line, range.column, range.column + 1};
    switch (token->getType()) {
    case PlanLexer::UNCLOSED_COMMENT:
      diagnostics.error(start, "this comment has no end").help("close it with */");
      break;
    case PlanLexer::UNCLOSED_STRING:
      diagnostics.error(range, "this string has no end").help("close it with \" on the same line");
      break;
    case PlanLexer::UNKNOWN:
      diagnostics.error(range, "unexpected character '" + token->getText() + "'")
          .help(token->getText() == "#" ? "comments begin with '//'" : "");
      break;
    }
  }
  return diagnostics.errorCount() == before;
}

} // namespace

TokenList Adjuster::run(TokenList in) {
  for (size_t i = 0; i < in.size(); ++i) {
    if (in[i]->getChannel() != Token::DEFAULT_CHANNEL) {
      out.push_back(std::move(in[i]));
      continue;
    }
    trackBrackets(in, i);
    // `user-id` is one name in a path and a difference in an expression; the lexer cannot tell which, because it sees
    // no more than the characters.
    size_t end = inExpression.back() ? i : endOfName(in, i);
    if (end > i)
      join(in, i, end);
    append(std::move(in[i]));
    i = end;
  }
  return std::move(out);
}

/// The index of the last token of the name that begins at `i`.
size_t Adjuster::endOfName(const TokenList &in, size_t i) {
  if (!isNamePiece(*in[i]))
    return i;
  while (i + 1 < in.size() && touches(*in[i], *in[i + 1]) && joinsNames(in, i + 1))
    i += 2;
  return i;
}

void Adjuster::trackBrackets(const TokenList &in, size_t i) {
  size_t type = in[i]->getType();
  bool opens = type == PlanLexer::LEFT_PAREN || type == PlanLexer::LEFT_BRACKET;
  bool closes = type == PlanLexer::RIGHT_PAREN || type == PlanLexer::RIGHT_BRACKET;
  // Within brackets a line end does not end a statement.
  if (opens && (depth > 0 || isClosed(in, i)))
    ++depth;
  else if (closes && depth > 0)
    --depth;
}

void Adjuster::append(std::unique_ptr<Token> token) {
  size_t type = token->getType();
  if (type == PlanLexer::NEWLINE && (depth > 0 || last == PlanLexer::COMMA)) {
    static_cast<CommonToken &>(*token).setChannel(Token::HIDDEN_CHANNEL);
    out.push_back(std::move(token));
    return;
  }
  if (type == PlanLexer::RIGHT_BRACE && !endsStatement(last) && last != PlanLexer::LEFT_BRACE)
    appendImpliedEnd(*token);
  // A name of digits and the letters of a unit, such as `1s`.
  if (type == PlanLexer::QUANTITY && startsStatement())
    static_cast<CommonToken &>(*token).setType(PlanLexer::PATH);
  if (inValue && isProduct(*token))
    appendProduct(*token, out);
  else
    out.push_back(std::move(token));
  trackValue(type);
  trackExpression(type);
  last = type;
}

void Adjuster::appendImpliedEnd(Token &brace) {
  auto end = std::make_unique<CommonToken>(&brace);
  end->setType(PlanLexer::NEWLINE);
  end->setText("}");
  out.push_back(std::move(end));
}

/// Keeps, for each open brace and for the top level, whether the rest of the statement may be an expression, in which a
/// minus means subtraction.
void Adjuster::trackExpression(size_t type) {
  if (type == PlanLexer::LEFT_BRACE)
    inExpression.push_back(false);
  else if (type == PlanLexer::RIGHT_BRACE && inExpression.size() > 1)
    inExpression.pop_back();
  else if (endsStatement(type))
    inExpression.back() = false;
  else if (type == PlanLexer::COLON || inValue)
    inExpression.back() = true;
}

void Adjuster::trackValue(size_t type) {
  if (type == PlanLexer::EQUAL || (startsStatement() && out.back()->getText() == "microbatches"))
    inValue = true;
  else if (endsStatement(type) || type == PlanLexer::COMMA || type == PlanLexer::RIGHT_BRACKET ||
           type == PlanLexer::LEFT_BRACE || type == PlanLexer::COLON)
    inValue = false;
}

PlanTokens::PlanTokens(const SourceBuffer &source) : input(source.text().str()), lexer(&input) {
  lexer.removeErrorListeners();
  TokenList all = lexer.getAllTokens();
  all.push_back(lexer.nextToken());
  adjusted = std::make_unique<antlr4::ListTokenSource>(Adjuster().run(std::move(all)));
  tokens = std::make_unique<antlr4::CommonTokenStream>(adjusted.get());
  tokens->fill();
}

std::unique_ptr<PlanTokens> meshplan::readTokens(const SourceBuffer &source, Diagnostics &diagnostics) {
  if (!checkText(source, diagnostics))
    return nullptr;
  auto tokens = std::make_unique<PlanTokens>(source);
  if (!checkTokens(*tokens, source.file(), diagnostics))
    return nullptr;
  return tokens;
}

SourceRange meshplan::rangeOf(const Token &token, int32_t file) {
  auto column = static_cast<int32_t>(token.getCharPositionInLine()) + 1;
  bool isText = token.getType() != Token::EOF && token.getType() != PlanLexer::NEWLINE;
  auto length = isText ? static_cast<int32_t>(token.getStopIndex() - token.getStartIndex() + 1) : 1;
  return {file, static_cast<int32_t>(token.getLine()), column, column + length};
}

bool meshplan::isImpliedEnd(const Token &token) {
  return token.getType() == PlanLexer::NEWLINE && token.getText() == "}";
}
