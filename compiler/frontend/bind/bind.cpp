//===- bind.cpp - a plan bound to a model ----------------------------------===//

#include "compiler/frontend/bind.h"

#include "compiler/frontend/bind/context.h"
#include "compiler/frontend/path_pattern.h"

#include "llvm/ADT/STLExtras.h"

using namespace meshplan;

static bool dividesExperts(const EntryStatement &entry) {
  return entry.path && llvm::any_of(entry.clauses, [](const Clause &clause) {
           const auto *style = std::get_if<StyleClause>(&clause);
           return style && (style->style.text == styleName(StyleKind::Expert) ||
                            style->style.text == styleName(StyleKind::Within));
         });
}

std::vector<ListToStack> meshplan::listsToStack(const Syntax &syntax, const ModelOutline &model) {
  std::vector<bool> holds(model.modules.size(), false), isFound(model.modules.size(), false);
  for (const OutlineParameter &parameter : model.parameters)
    for (const OutlineParameterName &name : parameter.names)
      holds[name.module] = true;
  std::vector<ListToStack> lists;
  Sources none;
  Diagnostics unread(none); // bindPlan reports wrong paths
  for (const EntryStatement &entry : syntax.entries) {
    if (!dividesExperts(entry))
      continue;
    std::vector<PathPattern> nested = entry.blocks;
    nested.push_back(*entry.path);
    std::optional<PatternSequence> pattern = parsePattern(nested, unread);
    if (!pattern)
      continue;
    PathMatcher matcher(*pattern);
    for (size_t module = 0; module < model.modules.size(); ++module)
      if (!holds[module] && !isFound[module] && matcher.matches(model.modules[module].path)) {
        isFound[module] = true;
        lists.push_back({model.modules[module].path, entry.pathRange});
      }
  }
  return lists;
}

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
