//===- routing.cpp - statements about tokens of experts --------------------===//
//
// Which modules have experts is known only when their operators are recognized: plan-place-routing reports modules
// without any.
//
//===----------------------------------------------------------------------===//

#include "compiler/frontend/bind/training/training.h"

#include "compiler/support/nearest.h"
#include "runtime/schema/routed.h"

using namespace meshplan;
using namespace meshplan::bind;

/// Reports a number that the statement cannot have.
static void checkNumber(const Context &context, const RoutingStatement &statement, RoutingRule rule) {
  const Number &number = statement.number;
  bool isRate = rule == RoutingRule::Bias;
  if (number.unit.empty() && (isRate ? isBalanceRate(number.value) : isReserve(number.value)))
    return;
  auto fail = [&](const std::string &required, const std::string &help) {
    context.diagnostics.error(number.range, "'" + statement.text + "': " + required + " is required").help(help);
  };
  if (isRate)
    fail("a rate above 0", "0.001 is common");
  else
    fail("a number of at least 1",
         "1 is the number of tokens of an expert if all are chosen equally often, 1.25 a quarter more");
}

static RoutingRule ruleOf(const Context &context, const RoutingStatement &statement) {
  if (!statement.subject)
    return statement.keyword.text == "reserve" ? RoutingRule::Reserve : RoutingRule::Capacity;
  if (const Word &subject = *statement.subject; subject.text != "bias")
    context.diagnostics.error(subject.range, "unknown subject of 'balance': '" + subject.text + "'")
        .help(suggest(subject.text, {"bias"}, "subjects"));
  return RoutingRule::Bias;
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
