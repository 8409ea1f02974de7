//===- build_options.cpp - option blocks -----------------------------------===//
//
// Options are read without knowing their statement: `64 MiB`, `[a.*, b]` and `cosine` are operands of a kind, and
// bind/option_reader.h decides whether the kind fits the option. So a wrong value is an error of binding, which says
// the form of the option, and not a syntax error.
//
//===----------------------------------------------------------------------===//

#include "compiler/frontend/parse/build.h"
#include "compiler/frontend/parse/spacing.h"
#include "compiler/frontend/path_pattern.h"

#include <utility>

using namespace meshplan;
using namespace meshplan::build;

namespace {

std::vector<std::vector<Operand>> operands(const SyntaxContext &context, Parser::OperandsContext &rule);

Operand operand(const SyntaxContext &context, Parser::OperandContext &rule) {
  Operand result;
  result.range = context.range(rule);
  if (rule.number() != nullptr) {
    result.kind = Operand::Kind::Number;
    result.number = number(context, *rule.number());
    result.text = context.text(rule);
  } else if (rule.operands() != nullptr) {
    result.kind = Operand::Kind::List;
    result.list = operands(context, *rule.operands());
    result.text = context.text(rule);
  } else if (rule.STRING() != nullptr) {
    result.kind = Operand::Kind::String;
    result.text = withoutQuotes(rule.start->getText());
  } else {
    bool isPath = rule.PATH() != nullptr || rule.STAR() != nullptr;
    result.kind = isPath ? Operand::Kind::Path : Operand::Kind::Word;
    result.text = canonicalText(*rule.start);
  }
  return result;
}

std::vector<std::vector<Operand>> operands(const SyntaxContext &context, Parser::OperandsContext &rule) {
  std::vector<std::vector<Operand>> result;
  for (Parser::OperandGroupContext *group : rule.operandGroup()) {
    std::vector<Operand> items;
    for (Parser::OperandContext *item : group->operand())
      items.push_back(operand(context, *item));
    result.push_back(std::move(items));
  }
  return result;
}

Option option(const SyntaxContext &context, Parser::OptionContext &rule) {
  Option result;
  result.name = {canonicalText(*rule.start), context.range(*rule.start)};
  const antlr4::Token *last = rule.start;
  if (rule.operands() != nullptr) {
    result.operands = operands(context, *rule.operands());
    last = rule.operands()->stop;
  }
  result.range = context.range(*rule.start, *last);
  result.text = context.text(*rule.start, *last);
  if (rule.optionBlock() != nullptr) {
    result.hasBlock = true;
    result.block = options(context, *rule.optionBlock());
  }
  return result;
}

} // namespace

std::vector<Option> build::options(const SyntaxContext &context, Parser::OptionBlockContext &rule) {
  std::vector<Option> result;
  for (Parser::OptionItemContext *item : rule.optionItem())
    if (item->option() != nullptr)
      result.push_back(option(context, *item->option()));
  return result;
}
