//===- tokens.h - from text to the tokens of the parser ----------*- C++ -*-===//
//
// The lexer's tokens after the four rules of the language that a grammar without actions cannot express:
//
// - a newline after a comma or inside ( ) and [ ] does not end a statement,
// - a closing brace ends the statement before it (an empty NEWLINE token is inserted),
// - after an equals sign, `2*3` is a product and not a path pattern,
// - where no expression is possible, `user-id` is one path.
//
// Comments stay in the stream, on the hidden channel.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_COMPILER_FRONTEND_PARSE_TOKENS_H
#define MESHPLAN_COMPILER_FRONTEND_PARSE_TOKENS_H

#include "compiler/support/diagnostics.h"
#include "grammar/PlanLexer.h"

#include "antlr4-runtime.h"

#include <memory>

namespace meshplan {

/// The token stream of one file, with the objects that it refers to.
class PlanTokens {
public:
  explicit PlanTokens(const SourceBuffer &source);

  antlr4::CommonTokenStream &stream() { return *tokens; }

private:
  antlr4::ANTLRInputStream input;
  grammar::PlanLexer lexer;
  std::unique_ptr<antlr4::ListTokenSource> adjusted;
  std::unique_ptr<antlr4::CommonTokenStream> tokens;
};

/// The tokens of a file. Reports text that is not UTF-8, brackets nested too deeply, unclosed comments and strings, and
/// unknown characters; then the result is null.
std::unique_ptr<PlanTokens> readTokens(const SourceBuffer &source, Diagnostics &diagnostics);

/// The location of one token.
SourceRange rangeOf(const antlr4::Token &token, int32_t file);

/// True for the inserted NEWLINE that ends a statement before `}`.
bool isImpliedEnd(const antlr4::Token &token);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_FRONTEND_PARSE_TOKENS_H
