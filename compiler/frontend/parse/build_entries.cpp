//===- build_entries.cpp - entries, styles and blocks ----------------------===//
//
// The syntax keeps what is written: clauses in their order, options that no style has, numbers as expressions. Which of
// them a style takes is decided when the plan is bound, where a message can say what the style takes instead.
//
//===----------------------------------------------------------------------===//

#include "compiler/frontend/parse/build.h"

#include <algorithm>
#include <utility>

using namespace meshplan;
using namespace meshplan::build;

namespace {

StyleOption option(const SyntaxContext &context, Word name, Parser::OptionValueContext &rule, SourceRange range) {
  StyleOption result;
  result.name = std::move(name);
  result.range = range;
  if (rule.expression() != nullptr)
    result.value = expression(context, *rule.expression());
  for (Parser::PartContext *part : rule.part()) {
    PartSyntax syntax;
    if (part->partName() != nullptr)
      syntax.name = part->partName()->getText();
    syntax.count = expression(context, *part->expression());
    syntax.range = context.range(*part);
    result.list.push_back(std::move(syntax));
  }
  return result;
}

StyleClause styleClause(const SyntaxContext &context, Parser::StyleClauseContext &rule) {
  StyleClause result;
  result.style = {rule.start->getText(), context.range(*rule.start)};
  if (rule.axes() != nullptr)
    result.axes = axes(context, *rule.axes());
  for (Parser::StyleOptionContext *each : rule.styleOption())
    result.options.push_back(option(context, word(context, *each->word()), *each->optionValue(), context.range(*each)));
  result.range = context.range(rule);
  result.text = context.text(rule);
  return result;
}

LayoutSyntax layout(const SyntaxContext &context, Parser::LayoutContext &rule) {
  LayoutSyntax result;
  result.range = context.range(rule);
  if (rule.dims() != nullptr)
    result.layout = dims(context, *rule.dims());
  else if (rule.expression() != nullptr)
    result.layout = LayoutSyntax::Split{expression(context, *rule.expression()), axes(context, *rule.axes())};
  else
    result.layout = word(context, *rule.word());
  return result;
}

BorderClause borderClause(const SyntaxContext &context, Parser::BorderClauseContext &rule) {
  BorderClause result;
  result.isInput = rule.start->getText() == "input";
  if (rule.index() != nullptr)
    result.index = word(context, *rule.index());
  result.layout = layout(context, *rule.layout());
  result.range = context.range(rule);
  result.text = context.text(rule);
  return result;
}

ParameterClause parameterClause(const SyntaxContext &context, Parser::ParameterClauseContext &rule) {
  ParameterClause result;
  result.range = context.range(rule);
  for (Parser::PlacementItemContext *item : rule.placementItem()) {
    if (item->placement() == nullptr)
      continue;
    PlacementSyntax placement;
    placement.parameter = word(context, *item->placement()->name());
    placement.layout = layout(context, *item->placement()->layout());
    if (Parser::PartsOptionContext *parts = item->placement()->partsOption())
      placement.parts = option(context, {parts->start->getText(), context.range(*parts->start)}, *parts->optionValue(),
                               context.range(*parts));
    placement.range = context.range(*item->placement());
    placement.text = context.text(*item->placement());
    result.placements.push_back(std::move(placement));
  }
  return result;
}

Clause clause(const SyntaxContext &context, Parser::ClauseContext &rule) {
  if (rule.borderClause() != nullptr)
    return borderClause(context, *rule.borderClause());
  if (rule.parameterClause() != nullptr)
    return parameterClause(context, *rule.parameterClause());
  return styleClause(context, *rule.styleClause());
}

/// The token `rest` of an entry without a path.
const antlr4::Token *restOf(Parser::EntryContext &rule) {
  auto colon = std::ranges::find(rule.children, rule.COLON());
  return dynamic_cast<antlr4::tree::TerminalNode &>(**std::prev(colon)).getSymbol();
}

/// `stack a.*.b dim 1`: a word before the path, and options after it.
WeightName weightName(const SyntaxContext &context, Parser::WeightNameContext &rule) {
  WeightName result{path(context, *rule.path(0)), std::nullopt, path(context, *rule.path(1)), {}, context.range(rule)};
  if (rule.word() != nullptr)
    result.how = word(context, *rule.word());
  for (Parser::StyleOptionContext *each : rule.styleOption())
    result.options.push_back(option(context, word(context, *each->word()), *each->optionValue(), context.range(*each)));
  return result;
}

} // namespace

void build::weightNames(const SyntaxContext &context, Parser::WeightNamesStatementContext &rule, Syntax &syntax) {
  WeightNamesStatement result{{}, context.range(rule)};
  for (Parser::WeightNameItemContext *item : rule.weightNameItem())
    if (item->weightName() != nullptr)
      result.entries.push_back(weightName(context, *item->weightName()));
  syntax.weightNames.push_back(std::move(result));
}

void build::entry(const SyntaxContext &context, Parser::EntryContext &rule, const std::vector<PathPattern> &blocks,
                  Syntax &syntax) {
  EntryStatement result;
  result.blocks = blocks;
  if (rule.path() != nullptr) {
    result.path = path(context, *rule.path());
    result.pathRange = result.path->range;
  } else {
    result.pathRange = context.range(*restOf(rule));
  }
  // A path may also have the name `override`.
  bool isPath = rule.path() != nullptr && rule.path()->start == rule.start;
  result.isOverride = rule.start->getText() == "override" && !isPath;
  for (Parser::ClauseContext *item : rule.clause())
    result.clauses.push_back(clause(context, *item));
  result.range = context.range(rule);
  syntax.entries.push_back(std::move(result));
}

void build::block(const SyntaxContext &context, Parser::BlockContext &rule, std::vector<PathPattern> blocks,
                  Syntax &syntax) {
  blocks.push_back(path(context, *rule.path()));
  syntax.blocks.push_back({blocks, blocks.back().range});
  for (Parser::BlockItemContext *item : rule.blockItem()) {
    if (item->entry() != nullptr)
      entry(context, *item->entry(), blocks, syntax);
    else if (item->block() != nullptr)
      block(context, *item->block(), blocks, syntax);
  }
}
