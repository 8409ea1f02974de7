//===- routing.cpp - statements about tokens of experts --------------------===//
//
// Which modules have experts is known only when their operators are recognised: plan-place-routing reports modules
// without any.
//
//===----------------------------------------------------------------------===//

#include "compiler/frontend/bind/training/training.h"

#include "compiler/support/nearest.h"

#include <cmath>

using namespace meshplan;
using namespace meshplan::bind;

/// Reports a number that the statement cannot have.
static void checkNumber(const Context &context, const RoutingStatement &statement, RoutingRule rule) {
  const Number &number = statement.number;
  bool isPlain = number.unit.empty() && std::isfinite(number.value);
  const std::string &keyword = statement.keyword.text;
  if (rule == RoutingRule::Bias) {
    if (!isPlain || number.value <= 0)
      context.diagnostics.error(number.range, "the rate of 'balance bias' is a number above 0").help("0.001 is common");
    return;
  }
  if (!isPlain || number.value < 1)
    context.diagnostics.error(number.range, "'" + keyword + "' is a number of at least 1")
        .help("1 is the number of tokens of an expert if all are chosen equally often, 1.25 a quarter more");
}

static RoutingRule ruleOf(const Context &context, const RoutingStatement &statement) {
  static const std::vector<std::string> subjects = {"bias"};
  if (statement.subject && statement.subject->text != "bias")
    context.diagnostics
        .error(statement.subject->range, "unknown subject of 'balance': '" + statement.subject->text + "'")
        .help(suggest(statement.subject->text, subjects, "subjects"));
  if (statement.subject)
    return RoutingRule::Bias;
  return statement.keyword.text == "reserve" ? RoutingRule::Reserve : RoutingRule::Capacity;
}

void bind::bindRoutings(const Context &context, BoundPlan &plan) {
  for (const RoutingStatement &statement : context.syntax.routings) {
    RoutingRule rule = ruleOf(context, statement);
    checkNumber(context, statement, rule);
    if (rule == RoutingRule::Bias && context.syntax.optimizers.empty())
      context.diagnostics.error(statement.range, "'balance bias' without an optimizer: no step is taken")
          .help("add 'optimizer KIND { ... }', or remove the statement");
    BoundRouting &routing =
        plan.routings.emplace_back(BoundRouting{rule, statement.number.value, {}, statement.text, statement.range});
    for (const PathPattern &path : statement.paths)
      routing.paths.push_back(bindModulePath(context, path, statement.keyword.text));
  }
}
