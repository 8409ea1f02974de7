//===- optimizer.cpp - the optimizer and its groups of parameters ----------===//

#include "compiler/frontend/bind/training/training.h"
#include "compiler/support/nearest.h"

#include "llvm/ADT/STLExtras.h"

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
  optimizer.groups.push_back({{}, general.numbers, statement.range});
  // A group has what the optimizer states, also behind it, but for its own options.
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
  WrittenNumbers numbers = general;
  readOptions(context, "group", written.option->block, numberRules(context, optimizer.kind, numbers));
  checkNumbers(context, numbers, &general);
  OptimizerGroup &group = optimizer.groups.emplace_back();
  group.paths = bindPaths(context, written.paths);
  group.numbers = numbers.numbers;
  group.range = written.option->range;
  for (const BoundPaths &paths : group.paths) {
    claim(paths);
    checkTrained(paths);
  }
}

void OptimizerReader::claim(const BoundPaths &paths) {
  size_t group = optimizer.groups.size() - 1;
  bool isReported = false;
  for (size_t parameter : paths.parameters) {
    size_t &owner = optimizer.groupOf[parameter];
    if (owner != 0 && owner != group && !isReported) {
      context.diagnostics.error(paths.range, "parameter " + pathOf(parameter) + " is in two groups of the optimizer")
          .note(claims[parameter], "the other group is here")
          .help("take it out of one of the two");
      isReported = true;
    }
    if (owner == 0) {
      owner = group;
      claims[parameter] = paths.range;
    }
  }
}

void OptimizerReader::checkTrained(const BoundPaths &paths) {
  auto isTrained = [&](size_t parameter) { return plan.parameterUse[parameter] == ParameterUse::Trained; };
  if (paths.parameters.empty() || llvm::any_of(paths.parameters, isTrained))
    return;
  size_t first = paths.parameters.front();
  std::string state = plan.parameterUse[first] == ParameterUse::Frozen ? " is frozen" : " is unused";
  Diagnostic &error =
      context.diagnostics.error(paths.range, "group '" + paths.text + "' names no parameter that is trained");
  if (plan.parameterUseRange[first].hasLine())
    error.note(plan.parameterUseRange[first], pathOf(first) + state + " by this statement");
  else
    error.help(pathOf(first) + " does not require a gradient in the archive");
  error.help("take the path out of the group");
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
