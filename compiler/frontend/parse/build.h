//===- build.h - from parse tree to syntax -----------------------*- C++ -*-===//
//
// One function per family of statements; each takes a tree without errors. Errors that are not errors of syntax (a
// number that does not fit, a bad character in a string) are reported here.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_COMPILER_FRONTEND_PARSE_BUILD_H
#define MESHPLAN_COMPILER_FRONTEND_PARSE_BUILD_H

#include "compiler/frontend/syntax.h"
#include "grammar/PlanParser.h"

namespace meshplan::build {

using Parser = grammar::PlanParser;

/// Locations, canonical text and errors of one file.
struct SyntaxContext {
  int32_t file;
  antlr4::CommonTokenStream &tokens;
  Diagnostics &diagnostics;

  SourceRange range(const antlr4::Token &token) const;
  /// From the first token to the last one on the same line.
  SourceRange range(const antlr4::ParserRuleContext &rule) const;
  SourceRange range(const antlr4::Token &first, const antlr4::Token &last) const;
  /// The canonical text of a rule on one line.
  std::string text(const antlr4::ParserRuleContext &rule) const;
  std::string text(const antlr4::Token &first, const antlr4::Token &last) const;
};

// build_values.cpp
Word word(const SyntaxContext &context, const antlr4::ParserRuleContext &rule);
Number number(const SyntaxContext &context, Parser::NumberContext &rule);
Expression expression(const SyntaxContext &context, Parser::ExpressionContext &rule);
PathPattern path(const SyntaxContext &context, Parser::PathContext &rule);
std::vector<PathPattern> paths(const SyntaxContext &context, Parser::PathsContext &rule);
std::vector<Word> axes(const SyntaxContext &context, Parser::AxesContext &rule);
std::vector<DimSyntax> dims(const SyntaxContext &context, Parser::DimsContext &rule);

// build_options.cpp
std::vector<Option> options(const SyntaxContext &context, Parser::OptionBlockContext &rule);

// build_entries.cpp
void entry(const SyntaxContext &context, Parser::EntryContext &rule, const std::vector<PathPattern> &blocks,
           Syntax &syntax);
void block(const SyntaxContext &context, Parser::BlockContext &rule, std::vector<PathPattern> blocks, Syntax &syntax);
void weightNames(const SyntaxContext &context, Parser::WeightNamesStatementContext &rule, Syntax &syntax);

// build_statements.cpp
void statement(const SyntaxContext &context, Parser::StatementContext &rule, Syntax &syntax);

} // namespace meshplan::build

#endif // MESHPLAN_COMPILER_FRONTEND_PARSE_BUILD_H
