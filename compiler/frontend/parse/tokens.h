//===- tokens.h - from text to the tokens that are parsed --------*- C++ -*-===//
//
// The lexer's tokens with the four rules of the language that a grammar
// without actions cannot say:
//
// - a newline after a comma or inside ( ) and [ ] does not end a statement,
// - a closing brace ends the statement before it (an empty NEWLINE token),
// - after an equals sign, `2*3` is a product and not a path pattern,
// - where no expression can stand, `user-id` is one path.
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

/// The token stream of one file and what it needs to live.
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

/// The tokens of a file. Reports text that is not UTF-8, brackets nested too
/// deeply, comments and strings without an end, characters that no token has;
/// then the result is null.
std::unique_ptr<PlanTokens> readTokens(const SourceBuffer &source, Diagnostics &diagnostics);

/// The place of one token.
SourceRange rangeOf(const antlr4::Token &token, int32_t file);

/// True for the NEWLINE that stands for the end of a statement before `}`.
bool isImpliedEnd(const antlr4::Token &token);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_FRONTEND_PARSE_TOKENS_H
