//===- build_statements.cpp - statements of a plan -------------------------===//
//
// One function for each rule of the grammar (grammar/Plan.g4). A statement that may occur once is a list as well, so
// that binding reports the second one with the location of the first.
//
//===----------------------------------------------------------------------===//

#include "compiler/frontend/parse/build.h"
#include "compiler/frontend/path_pattern.h"

#include <utility>

using namespace meshplan;
using namespace meshplan::build;

namespace {

template <typename Rules> std::vector<Word> words(const SyntaxContext &context, const Rules &rules) {
  std::vector<Word> result;
  for (auto *rule : rules)
    result.push_back(word(context, *rule));
  return result;
}

void model(const SyntaxContext &context, Parser::ModelStatementContext &rule, Syntax &syntax) {
  const antlr4::Token &file = *rule.STRING()->getSymbol();
  syntax.models.push_back({withoutQuotes(file.getText()), context.range(file), context.range(rule)});
}

template <typename Rules> std::vector<AxisDefinition> definitions(const SyntaxContext &context, const Rules &rules) {
  std::vector<AxisDefinition> result;
  for (Parser::AxisDefinitionContext *axis : rules)
    result.push_back({word(context, *axis->axisName()), expression(context, *axis->expression())});
  return result;
}

void mesh(const SyntaxContext &context, Parser::MeshStatementContext &rule, Syntax &syntax) {
  syntax.meshes.push_back({definitions(context, rule.axisDefinition()), context.range(rule)});
}

void fold(const SyntaxContext &context, Parser::FoldStatementContext &rule, Syntax &syntax) {
  syntax.folds.push_back(
      {words(context, rule.axisName()), definitions(context, rule.axisDefinition()), context.range(rule)});
}

void value(const SyntaxContext &context, Parser::ValueStatementContext &rule, Syntax &syntax) {
  ValueStatement result;
  result.isInput = rule.start->getText() == "input";
  result.names = words(context, rule.name());
  result.dims = dims(context, *rule.dims());
  result.range = context.range(rule);
  syntax.values.push_back(std::move(result));
}

void loss(const SyntaxContext &context, Parser::LossStatementContext &rule, Syntax &syntax) {
  LossStatement result{word(context, *rule.name()), std::nullopt, context.range(rule)};
  if (rule.word() != nullptr)
    result.unit = word(context, *rule.word());
  syntax.losses.push_back(std::move(result));
}

void data(const SyntaxContext &context, Parser::DataStatementContext &rule, Syntax &syntax) {
  DataStatement result;
  for (Parser::AxesContext *list : rule.axes())
    for (Word &axis : axes(context, *list))
      result.axes.push_back(std::move(axis));
  if (rule.paths() != nullptr)
    result.paths = paths(context, *rule.paths());
  result.options = options(context, *rule.optionBlock());
  result.range = context.range(rule);
  syntax.data.push_back(std::move(result));
}

void optimizer(const SyntaxContext &context, Parser::OptimizerStatementContext &rule, Syntax &syntax) {
  OptimizerStatement result{word(context, *rule.word()), {}, context.range(rule)};
  if (rule.optionBlock() != nullptr)
    result.options = options(context, *rule.optionBlock());
  syntax.optimizers.push_back(std::move(result));
}

void trainable(const SyntaxContext &context, Parser::TrainableStatementContext &rule, Syntax &syntax) {
  using Kind = TrainableStatement::Kind;
  std::string keyword = rule.start->getText();
  Kind kind = keyword == "freeze" ? Kind::Freeze : keyword == "train" ? Kind::TrainOnly : Kind::Unused;
  syntax.trainable.push_back({kind, paths(context, *rule.paths()), context.range(rule)});
}

/// The path of an init entry: the name of the option, or, after `override`, its first operand.
std::optional<PathPattern> initPath(const Option &option, bool isOverride) {
  if (!isOverride) {
    llvm::StringRef text = option.name.text;
    bool isLiteral = isQuoted(text);
    return PathPattern{isLiteral ? withoutQuotes(text) : text.str(), isLiteral, option.name.range};
  }
  const Operand &operand = option.operands.front().front();
  return PathPattern{operand.text, operand.kind == Operand::Kind::String, operand.range};
}

void init(const SyntaxContext &context, Parser::InitStatementContext &rule, Syntax &syntax) {
  InitStatement result{{}, context.range(rule)};
  for (const Option &option : options(context, *rule.optionBlock())) {
    InitEntry entry{
        std::nullopt, option.name.text == "override" && !option.operands.empty(), {}, option.range, option.text};
    bool isRow = option.operands.size() == 1 && !option.hasBlock;
    if (isRow)
      entry.distribution.assign(option.operands.front().begin() + entry.isOverride, option.operands.front().end());
    if (option.name.text != "rest")
      entry.path = initPath(option, entry.isOverride);
    result.entries.push_back(std::move(entry));
  }
  syntax.inits.push_back(std::move(result));
}

/// Builds a statement about the forward pass; false for others.
bool forwardStatement(const SyntaxContext &context, Parser::StatementContext &rule, Syntax &syntax) {
  if (auto *statement = rule.modelStatement())
    model(context, *statement, syntax);
  else if (auto *statement = rule.meshStatement())
    mesh(context, *statement, syntax);
  else if (auto *statement = rule.foldStatement())
    fold(context, *statement, syntax);
  else if (auto *statement = rule.letStatement())
    syntax.lets.push_back({word(context, *statement->axisName()), expression(context, *statement->expression()),
                           context.range(*statement)});
  else if (auto *statement = rule.valueStatement())
    value(context, *statement, syntax);
  else if (auto *statement = rule.lossStatement())
    loss(context, *statement, syntax);
  else if (auto *statement = rule.microbatchesStatement())
    syntax.microbatches.push_back({expression(context, *statement->expression()), statement->stop->getText() == "mean",
                                   context.range(*statement)});
  else if (auto *statement = rule.weightNamesStatement())
    weightNames(context, *statement, syntax);
  else if (auto *statement = rule.entry())
    entry(context, *statement, {}, syntax);
  else if (auto *statement = rule.block())
    block(context, *statement, {}, syntax);
  else
    return false;
  return true;
}

void routing(const SyntaxContext &context, Parser::RoutingStatementContext &rule, Syntax &syntax) {
  RoutingStatement statement;
  statement.keyword = {rule.start->getText(), context.range(*rule.start)};
  if (auto *subject = rule.word())
    statement.subject = word(context, *subject);
  statement.number = number(context, *rule.number());
  if (auto *named = rule.paths())
    statement.paths = paths(context, *named);
  statement.text = context.text(*rule.start, *rule.number()->stop);
  statement.range = context.range(rule);
  syntax.routings.push_back(std::move(statement));
}

/// Builds a statement about training, or a reserved one.
void trainingStatement(const SyntaxContext &context, Parser::StatementContext &rule, Syntax &syntax) {
  if (auto *statement = rule.dataStatement())
    data(context, *statement, syntax);
  else if (auto *statement = rule.precisionStatement())
    syntax.precisions.push_back({options(context, *statement->optionBlock()), context.range(*statement)});
  else if (auto *statement = rule.recomputeStatement())
    syntax.recomputes.push_back(
        {paths(context, *statement->paths()), words(context, statement->word()), context.range(*statement)});
  else if (auto *statement = rule.routingStatement())
    routing(context, *statement, syntax);
  else if (auto *statement = rule.optimizerStatement())
    optimizer(context, *statement, syntax);
  else if (auto *statement = rule.clipStatement())
    syntax.clips.push_back({number(context, *statement->number()), context.range(*statement)});
  else if (auto *statement = rule.nonfiniteStatement())
    syntax.nonfinites.push_back(
        {word(context, *statement->word(0)), word(context, *statement->word(1)), context.range(*statement)});
  else if (auto *statement = rule.trainableStatement())
    trainable(context, *statement, syntax);
  else if (auto *statement = rule.initStatement())
    init(context, *statement, syntax);
  else if (auto *statement = rule.overlapStatement())
    syntax.overlaps.push_back({options(context, *statement->optionBlock()), context.range(*statement)});
  else if (auto *statement = rule.reservedStatement())
    syntax.reserved.push_back(
        {{statement->start->getText(), context.range(*statement->start)}, context.range(*statement)});
}

} // namespace

void build::statement(const SyntaxContext &context, Parser::StatementContext &rule, Syntax &syntax) {
  if (!forwardStatement(context, rule, syntax))
    trainingStatement(context, rule, syntax);
}
