//===- training.cpp - how the step trains ----------------------------------===//

#include "compiler/frontend/bind/context.h"
#include "compiler/frontend/bind/option_reader.h"
#include "compiler/support/nearest.h"

#include "llvm/ADT/STLExtras.h"

#include <utility>

using namespace meshplan;
using namespace meshplan::bind;

namespace {

const std::vector<std::string> &dtypeNames() {
  static const std::vector<std::string> names = {"f64", "f32", "bf16", "f16"};
  return names;
}

OptionRule dtypeRule(const Context &context, std::string name, std::string &target) {
  auto take = [&context, &target](const Option &option) {
    std::optional<std::string> word = singleWord(option);
    if (!word)
      return false;
    if (!llvm::is_contained(dtypeNames(), *word))
      context.diagnostics.error(singleOperand(option)->range, "unknown dtype '" + *word + "'")
          .help(suggest(*word, dtypeNames(), "dtypes"));
    target = *word;
    return true;
  };
  return {name, name + " DTYPE", take};
}

void bindPrecision(const Context &context, const PrecisionStatement &statement, BoundPlan &plan) {
  BoundPrecision precision;
  precision.range = statement.range;
  readOptions(context, "precision", statement.options,
              {dtypeRule(context, "compute", precision.compute), dtypeRule(context, "storage", precision.storage),
               dtypeRule(context, "gather", precision.gather), dtypeRule(context, "reduce", precision.reduce),
               dtypeRule(context, "master", precision.master), dtypeRule(context, "state", precision.state)});
  plan.precision = std::move(precision);
}

struct OptimizerRule {
  llvm::StringRef name;
  std::vector<std::string> numbers; ///< options that take one number
  bool takesBetas;
};

const std::vector<OptimizerRule> &optimizerRules() {
  static const std::vector<OptimizerRule> rules = {
      {"sgd", {"lr", "momentum", "dampening", "weight_decay"}, false},
      {"adam", {"lr", "eps", "weight_decay"}, true},
      {"adamw", {"lr", "eps", "weight_decay"}, true},
  };
  return rules;
}

std::optional<std::vector<double>> numbersOf(const Operand &list) {
  std::vector<double> result;
  for (const std::vector<Operand> &item : list.list) {
    if (item.size() != 1 || item[0].kind != Operand::Kind::Number || !item[0].number.unit.empty())
      return std::nullopt;
    result.push_back(item[0].number.value);
  }
  return result;
}

std::vector<OptionRule> numberRules(const OptimizerRule &rule, std::vector<OptimizerOption> &target) {
  std::vector<OptionRule> result;
  for (const std::string &name : rule.numbers)
    result.push_back({name, name + " NUMBER", [&target](const Option &option) {
                        std::optional<double> value = singleNumber(option);
                        if (value)
                          target.push_back({option.name.text, {*value}, option.range});
                        return value.has_value();
                      }});
  auto betas = [&target](const Option &option) {
    const Operand *list = singleOperand(option);
    std::optional<std::vector<double>> values;
    if (list != nullptr && list->kind == Operand::Kind::List)
      values = numbersOf(*list);
    if (!values || values->size() != 2)
      return false;
    target.push_back({option.name.text, std::move(*values), option.range});
    return true;
  };
  if (rule.takesBetas)
    result.push_back({"betas", "betas (NUMBER, NUMBER)", betas});
  return result;
}

void bindGroup(const Context &context, const OptimizerRule &rule, const Option &option, llvm::StringRef name,
               llvm::ArrayRef<PathPattern> paths, BoundOptimizer &optimizer) {
  OptimizerGroup group;
  group.range = option.range;
  readOptions(context, name, option.block, numberRules(rule, group.options));
  for (const PathPattern &path : paths) {
    group.paths = bindPath(context, path);
    optimizer.groups.push_back(group);
  }
}

void bindOptimizer(const Context &context, const OptimizerStatement &statement, BoundPlan &plan) {
  BoundOptimizer optimizer;
  optimizer.name = statement.name.text;
  optimizer.range = statement.range;
  std::vector<std::string> names;
  for (const OptimizerRule &rule : optimizerRules())
    names.push_back(rule.name.str());
  auto rule = llvm::find_if(optimizerRules(), [&](const OptimizerRule &known) { return known.name == optimizer.name; });
  if (rule == optimizerRules().end()) {
    context.diagnostics.error(statement.name.range, "unknown optimizer '" + optimizer.name + "'")
        .help(suggest(optimizer.name, names, "optimizers"));
    return;
  }
  std::vector<OptionRule> rules = numberRules(*rule, optimizer.options);
  auto group = [&](const Option &option) {
    auto groups = pathGroups(option);
    if (!groups)
      return false;
    // All paths together: the options are the same, and are read once.
    std::vector<PathPattern> paths;
    for (const std::vector<PathPattern> &group : *groups)
      llvm::append_range(paths, group);
    bindGroup(context, *rule, option, "group", paths, optimizer);
    return true;
  };
  rules.push_back({"group", "group PATH { OPTIONS }", group, /*mayRepeat=*/true, /*takesBlock=*/true});
  readOptions(context, optimizer.name, statement.options, rules);
  plan.optimizer = std::move(optimizer);
}

void bindRecompute(const Context &context, const RecomputeStatement &statement, BoundPlan &plan) {
  BoundRecompute recompute{bindPaths(context, statement.paths), {}, statement.range};
  for (const Word &word : statement.keep)
    recompute.keep.push_back(word.text);
  plan.recomputes.push_back(std::move(recompute));
}

} // namespace

void bind::bindTraining(const Context &context, BoundPlan &plan) {
  for (const PrecisionStatement &statement : context.syntax.precisions)
    bindPrecision(context, statement, plan);
  for (const OptimizerStatement &statement : context.syntax.optimizers)
    bindOptimizer(context, statement, plan);
  for (const RecomputeStatement &statement : context.syntax.recomputes)
    bindRecompute(context, statement, plan);
  for (const TrainableStatement &statement : context.syntax.trainable)
    plan.trainable.push_back({statement.kind, bindPaths(context, statement.paths), statement.range});
  for (const ClipGradNormStatement &statement : context.syntax.clips) {
    if (statement.norm.value <= 0 || !statement.norm.unit.empty())
      context.diagnostics.error(statement.norm.range, "the norm is a number above 0");
    plan.clipGradNorm = BoundClip{statement.norm.value, statement.range};
  }
}
