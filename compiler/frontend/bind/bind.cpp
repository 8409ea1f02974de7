//===- bind.cpp - a plan bound to a model ----------------------------------===//

#include "compiler/frontend/bind.h"

#include "compiler/frontend/bind/context.h"
#include "compiler/frontend/path_pattern.h"

#include "llvm/ADT/STLExtras.h"

using namespace meshplan;

/// The first style of an entry that divides experts, or their features; null if it has none.
static const StyleClause *expertClause(const EntryStatement &entry) {
  for (const Clause &clause : entry.clauses)
    if (const auto *style = std::get_if<StyleClause>(&clause))
      if (style->style.text == styleName(StyleKind::Expert) || style->style.text == styleName(StyleKind::Within))
        return entry.path ? style : nullptr;
  return nullptr;
}

/// The pattern of an entry with those of its blocks; nothing if one of them is wrong, which bindPlan reports.
static std::optional<PatternSequence> patternOf(const EntryStatement &entry) {
  Sources none;
  Diagnostics unread(none);
  std::vector<PathPattern> nested = entry.blocks;
  nested.push_back(*entry.path);
  return parsePattern(nested, unread);
}

std::vector<std::pair<SourceRange, std::string>> bind::stackingEntries(const Syntax &syntax, llvm::StringRef list) {
  std::vector<std::pair<SourceRange, std::string>> found;
  for (const EntryStatement &entry : syntax.entries)
    if (const StyleClause *style = expertClause(entry))
      if (std::optional<PatternSequence> pattern = patternOf(entry); pattern && PathMatcher(*pattern).matches(list))
        found.emplace_back(entry.pathRange, style->style.text);
  return found;
}

std::vector<ListToStack> meshplan::listsToStack(const Syntax &syntax, const ModelOutline &model) {
  std::vector<bool> holds(model.modules.size(), false), isFound(model.modules.size(), false);
  for (const OutlineParameter &parameter : model.parameters)
    for (const OutlineParameterName &name : parameter.names)
      holds[name.module] = true;
  std::vector<ListToStack> lists;
  for (const EntryStatement &entry : syntax.entries) {
    std::optional<PatternSequence> pattern = expertClause(entry) ? patternOf(entry) : std::nullopt;
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
