//===- bind.cpp - a plan bound to a model ----------------------------------===//

#include "compiler/frontend/bind.h"

#include "compiler/frontend/bind/context.h"

using namespace meshplan;

std::optional<BoundPlan> meshplan::bindPlan(const Syntax &syntax, const ModelOutline &model,
                                            llvm::ArrayRef<Definition> definitions, Diagnostics &diagnostics) {
  size_t before = diagnostics.errorCount();
  bind::checkStatements(syntax, diagnostics);
  std::optional<Environment> environment = evaluatePlan(syntax, definitions, diagnostics);
  if (!environment)
    return std::nullopt;
  BoundPlan plan;
  plan.name = syntax.name.text;
  if (!syntax.models.empty()) {
    plan.modelFile = syntax.models.front().file;
    plan.modelRange = syntax.models.front().fileRange;
  }
  bind::Context context(syntax, model, *environment, diagnostics);
  bind::countMicrobatches(context, plan);
  bind::bindValues(context, plan);
  // First, so that other statements can say what a name of weight files is.
  bind::bindWeightNames(context, plan);
  bind::bindEntries(context, plan);
  bind::bindData(context, plan);
  bind::bindTraining(context, plan);
  plan.environment = std::move(*environment);
  if (diagnostics.errorCount() != before)
    return std::nullopt;
  return plan;
}
