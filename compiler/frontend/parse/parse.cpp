//===- parse.cpp - from text to syntax -------------------------------------===//

#include "compiler/frontend/parse/build.h"
#include "compiler/frontend/parse/error_strategy.h"
#include "compiler/frontend/parse/tokens.h"
#include "compiler/frontend/syntax.h"

using namespace meshplan;

std::optional<Syntax> meshplan::parsePlan(const SourceBuffer &source, Diagnostics &diagnostics) {
  size_t before = diagnostics.errorCount();
  std::unique_ptr<PlanTokens> tokens = readTokens(source, diagnostics);
  if (tokens == nullptr)
    return std::nullopt;
  grammar::PlanParser parser(&tokens->stream());
  parser.removeErrorListeners();
  parser.setErrorHandler(std::make_shared<PlanErrorStrategy>(source.file(), diagnostics));
  grammar::PlanParser::PlanContext *tree = parser.plan();
  if (diagnostics.errorCount() != before)
    return std::nullopt;

  build::SyntaxContext context{source.file(), tokens->stream(), diagnostics};
  Syntax syntax;
  syntax.name = build::word(context, *tree->planName());
  syntax.range = syntax.name.range;
  for (grammar::PlanParser::ItemContext *item : tree->item())
    if (item->statement() != nullptr)
      build::statement(context, *item->statement(), syntax);
  if (diagnostics.errorCount() != before)
    return std::nullopt;
  return syntax;
}
