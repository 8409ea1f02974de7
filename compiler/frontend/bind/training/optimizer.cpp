//===- optimizer.cpp - the optimizer and its groups of parameters ----------===//
//
// Groups are bound after all options of the statement have been read, because a group takes the numbers that it does
// not state from the statement, wherever they are in it.
//
//===----------------------------------------------------------------------===//

#include "compiler/frontend/bind/training/training.h"
#include "compiler/support/nearest.h"

#include "llvm/ADT/STLExtras.h"

#include <iterator>
#include <utility>

using namespace meshplan;
using namespace meshplan::bind;

llvm::StringRef meshplan::optimizerName(OptimizerKind kind) {
  switch (kind) {
  case OptimizerKind::Sgd:
    return "sgd";
  case OptimizerKind::Adam:
    return "adam";
  case OptimizerKind::Adamw:
    return "adamw";
  }
  return "";
}

namespace {

std::optional<OptimizerKind> kindOf(const Context &context, const Word &name) {
  std::vector<std::string> names;
  for (OptimizerKind kind : {OptimizerKind::Sgd, OptimizerKind::Adam, OptimizerKind::Adamw}) {
    names.push_back(optimizerName(kind).str());
    if (names.back() == name.text)
      return kind;
  }
  context.diagnostics.error(name.range, "unknown optimizer '" + name.text + "'")
      .help(suggest(name.text, names, "optimizers"));
  return std::nullopt;
}

class OptimizerReader {
public:
  OptimizerReader(const Context &context, const BoundPlan &plan, BoundOptimizer &optimizer)
      : context(context), plan(plan), optimizer(optimizer) {}

  void run(const OptimizerStatement &statement);

private:
  struct GroupOption {
    const Option *option;
    std::vector<PathPattern> paths;
  };

  bool takeGroup(const Option &option);
  bool takeSchedule(const Option &option);
  void bindGroup(const GroupOption &written);
  void claim(const BoundPaths &paths);
  void checkTrained(const BoundPaths &paths);
  bool isTrained(size_t parameter) const { return plan.parameterUse[parameter] == ParameterUse::Trained; }
  std::optional<size_t> findNamedFrozen(const PathPattern &path) const;
  void reportNamedFrozen(const BoundPaths &paths, size_t parameter) const;
  void warnOfFrozen(const BoundPaths &paths) const;
  std::string pathOf(size_t parameter) const {
    return "'" + parameterPath(context.model, context.model.parameters[parameter]) + "'";
  }

  const Context &context;
  const BoundPlan &plan;
  BoundOptimizer &optimizer;
  WrittenNumbers general;
  std::vector<GroupOption> groups;
  std::vector<SourceRange> claims; ///< by parameter: the path of the group that has it
};

} // namespace

void OptimizerReader::run(const OptimizerStatement &statement) {
  general = defaultNumbers(optimizer.kind);
  optimizer.groupOf.assign(context.model.parameters.size(), 0);
  claims.resize(context.model.parameters.size());
  std::vector<OptionRule> rules = numberRules(context, optimizer.kind, general);
  rules.push_back({"schedule", "schedule KIND { OPTIONS }",
                   [this](const Option &option) { return takeSchedule(option); },
                   /*mayRepeat=*/false, /*takesBlock=*/true});
  rules.push_back({"group", "group PATH { OPTIONS }", [this](const Option &option) { return takeGroup(option); },
                   /*mayRepeat=*/true, /*takesBlock=*/true});
  readOptions(context, optimizerName(optimizer.kind), statement.options, rules);
  checkNumbers(context, general);
  optimizer.groups.push_back({{}, general.numbers, general.ranges, statement.range});
  // A group inherits the options of the optimizer, including later ones, except those that it states itself.
  for (const GroupOption &group : groups)
    bindGroup(group);
}

bool OptimizerReader::takeSchedule(const Option &option) {
  if (!singleWord(option))
    return false;
  optimizer.schedule = bindSchedule(context, option);
  return true;
}

bool OptimizerReader::takeGroup(const Option &option) {
  auto lists = pathGroups(option);
  if (!lists)
    return false;
  GroupOption &group = groups.emplace_back();
  group.option = &option;
  for (const std::vector<PathPattern> &paths : *lists)
    llvm::append_range(group.paths, paths);
  return true;
}

void OptimizerReader::bindGroup(const GroupOption &written) {
  if (written.option->block.empty())
    context.diagnostics.error(written.option->range, "the group states no number, and so has no effect")
        .help("write one, as in 'weight_decay 0', or remove the group");
  WrittenNumbers numbers = general;
  readOptions(context, "group", written.option->block, numberRules(context, optimizer.kind, numbers));
  checkNumbers(context, numbers, &general);
  OptimizerGroup &group = optimizer.groups.emplace_back();
  group.paths = bindPaths(context, written.paths);
  group.numbers = numbers.numbers;
  group.ranges = std::move(numbers.ranges);
  group.range = written.option->range;
  for (auto [pattern, paths] : llvm::zip_equal(written.paths, group.paths)) {
    claim(paths);
    checkTrained(paths);
    if (paths.parameters.size() < 2)
      continue;
    if (std::optional<size_t> frozen = findNamedFrozen(pattern))
      reportNamedFrozen(paths, *frozen);
    else
      warnOfFrozen(paths);
  }
}

void OptimizerReader::claim(const BoundPaths &paths) {
  // Group 0 is the optimizer itself. A parameter may leave it for a group, but not one group for another.
  size_t group = optimizer.groups.size() - 1;
  bool isReported = false;
  for (size_t parameter : paths.parameters) {
    size_t &owner = optimizer.groupOf[parameter];
    if (owner != 0 && owner != group && !isReported) {
      context.diagnostics.error(paths.range, "parameter " + pathOf(parameter) + " is in two groups of the optimizer")
          .note(claims[parameter], "the other group is here")
          .help("remove it from one of the two");
      isReported = true;
    }
    if (owner == 0) {
      owner = group;
      claims[parameter] = paths.range;
    }
  }
}

/// A parameter that is not trained and that the path, or one of its alternatives, names exactly.
std::optional<size_t> OptimizerReader::findNamedFrozen(const PathPattern &path) const {
  std::optional<PatternSequence> pattern = parsePattern(path, context.diagnostics);
  if (!pattern)
    return std::nullopt;
  for (const PatternSequence &single : singleAlternatives(*pattern))
    for (size_t name : context.parameters.match(single))
      if (context.parameterNames[name] == patternText(single) && !isTrained(context.named[name].parameter))
        return context.named[name].parameter;
  return std::nullopt;
}

void OptimizerReader::checkTrained(const BoundPaths &paths) {
  if (paths.parameters.empty() ||
      llvm::any_of(paths.parameters, [&](size_t parameter) { return isTrained(parameter); }))
    return;
  explainUntrained(
      context, plan, paths.parameters.front(),
      context.diagnostics.error(paths.range, "group '" + paths.text + "' names no parameter that is trained"))
      .help("remove the path from the group");
}

void OptimizerReader::reportNamedFrozen(const BoundPaths &paths, size_t parameter) const {
  Diagnostic &error = context.diagnostics.error(paths.range, "group '" + paths.text + "' names parameter " +
                                                                 pathOf(parameter) + ", which is not trained");
  explainUntrained(context, plan, parameter, error).help("remove it from the group");
}

/// Warns of a group with some untrained parameters, for which the group has no effect.
void OptimizerReader::warnOfFrozen(const BoundPaths &paths) const {
  std::vector<size_t> frozen;
  llvm::copy_if(paths.parameters, std::back_inserter(frozen), [&](size_t parameter) { return !isTrained(parameter); });
  if (frozen.empty() || frozen.size() == paths.parameters.size())
    return;
  Diagnostic &warning = context.diagnostics.warning(
      paths.range, "of the " + std::to_string(paths.parameters.size()) + " parameters of group '" + paths.text + "' " +
                       std::to_string(frozen.size()) + (frozen.size() == 1 ? " is" : " are") +
                       " not trained, and the group has no effect on " + (frozen.size() == 1 ? "it" : "them"));
  explainUntrained(context, plan, frozen.front(), warning);
}

bool bind::keepsState(const BoundOptimizer &optimizer, const OptimizerGroup &group) {
  return optimizer.kind != OptimizerKind::Sgd || group.numbers.momentum != 0;
}

void bind::bindOptimizer(const Context &context, const OptimizerStatement &statement, BoundPlan &plan) {
  std::optional<OptimizerKind> kind = kindOf(context, statement.name);
  if (!kind)
    return;
  BoundOptimizer optimizer;
  optimizer.kind = *kind;
  optimizer.range = statement.range;
  OptimizerReader(context, plan, optimizer).run(statement);
  plan.optimizer = std::move(optimizer);
}
