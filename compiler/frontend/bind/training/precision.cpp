//===- precision.cpp - dtypes of training ----------------------------------===//
//
// A dtype that another program spells differently (`bfloat16`, `fp16`) is refused with the name that a plan has for it,
// and a dtype for which the plan has no use (`gather` without sharded parameters) with the statement that would use it:
// a setting that nothing reads would look as if it worked.
//
//===----------------------------------------------------------------------===//

#include "compiler/frontend/bind/training/training.h"
#include "compiler/support/nearest.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

#include <utility>

using namespace meshplan;
using namespace meshplan::bind;

namespace {

const std::vector<std::string> &dtypeNames() {
  static const std::vector<std::string> names = {"f64", "f32", "bf16", "f16"};
  return names;
}

/// True for names of 8-bit floats: `f8`, `fp8_e4m3`, `float8_e4m3fn`, `e5m2`.
bool isFloat8(llvm::StringRef name) {
  for (llvm::StringRef prefix : {"f8", "fp8", "float8", "e4m3", "e5m2", "e3m4", "e8m0"})
    if (name.starts_with_insensitive(prefix))
      return true;
  return false;
}

/// Our name for a dtype that other programs name differently; empty for none.
llvm::StringRef ownName(llvm::StringRef name) {
  return llvm::StringSwitch<llvm::StringRef>(name)
      .CasesLower({"float64", "fp64", "double"}, "f64")
      .CasesLower({"float32", "fp32", "float", "single"}, "f32")
      .CasesLower({"bfloat16", "brain"}, "bf16")
      .CasesLower({"float16", "fp16", "half"}, "f16")
      .Default("");
}

/// True for names of integers, which are similar to those of floats: `i32`, `uint8`.
bool isInteger(llvm::StringRef name) {
  name.consume_front_insensitive("u");
  name.consume_front_insensitive("i");
  name.consume_front_insensitive("nt");
  return !name.empty() && llvm::all_of(name, llvm::isDigit);
}

void reportDtype(const Context &context, const Operand &operand) {
  llvm::StringRef own = ownName(operand.text);
  if (isFloat8(operand.text))
    context.diagnostics
        .error(operand.range,
               "dtype '" + operand.text + "' is not supported: FP8 needs a scale for each tensor, and a plan has none")
        .help("dtypes: " + quotedList(dtypeNames(), ","));
  else
    context.diagnostics.error(operand.range, "unknown dtype '" + operand.text + "'")
        .help(!own.empty()              ? ("did you mean '" + own + "'?").str()
              : isInteger(operand.text) ? "dtypes: " + quotedList(dtypeNames(), ",")
                                        : suggest(operand.text, dtypeNames(), "dtypes"));
}

/// Reports dtypes of features that the plan does not use.
void checkUse(const Context &context, const BoundPlan &plan, const Option &option) {
  const std::string &name = option.name.text;
  bool gathers = llvm::any_of(plan.data, [](const BoundData &data) {
    return llvm::is_contained(data.shard, DataKind::Parameters) || data.gathersInStep();
  });
  if ((name == "master" || name == "state") && context.syntax.optimizers.empty())
    context.diagnostics.error(option.range, "'" + name + "' is a dtype of the optimizer, and the plan has none")
        .help("add 'optimizer KIND { ... }', or remove '" + option.text + "'");
  if (name == "gather" && !gathers)
    context.diagnostics
        .error(option.range, "'gather' is the dtype of gathered parameters, and no data block shards parameters")
        .help("add 'shard parameters, gradients, optimizer' to a data block, or remove '" + option.text + "'");
}

int64_t bitsOf(llvm::StringRef dtype) { return dtype == "f64" ? 64 : dtype == "f32" ? 32 : 16; }

/// A master keeps digits that the stored parameter loses. Reports a master dtype that adds digits to no parameter,
/// unless all have this dtype.
void checkMaster(const Context &context, const BoundPlan &plan, const BoundPrecision &precision, const Option &option) {
  if (context.syntax.optimizers.empty() || !llvm::is_contained(dtypeNames(), precision.master))
    return;
  std::string stored, path;
  for (auto [parameter, use] : llvm::zip_equal(context.model.parameters, plan.parameterUse)) {
    if (use != ParameterUse::Trained || parameter.dtype.empty())
      continue;
    const std::string &own = precision.storage.empty() ? parameter.dtype : precision.storage;
    // One parameter that gains digits is enough: models mix types, and 'master f32' for their bf16 weights is right
    // although norms are f32 already.
    if (own == precision.master || bitsOf(own) < bitsOf(precision.master))
      return;
    if (path.empty() || bitsOf(own) < bitsOf(stored)) {
      stored = own;
      path = parameterPath(context.model, parameter);
    }
  }
  if (path.empty())
    return;
  std::string wider = bitsOf(stored) == 16 ? "f32" : "f64";
  context.diagnostics
      .error(option.range, "'" + option.text + "' has no effect: parameter '" + path + "' is " + stored +
                               ", and no other is narrower")
      .help((stored == "f64" ? "" : "write 'master " + wider + "', or ") + "remove '" + option.text + "'");
}

/// Reports a dtype of the optimizer state if the optimizer has no state.
void checkState(const Context &context, const BoundPlan &plan, const Option &option) {
  bool keeps = !plan.optimizer || llvm::any_of(plan.optimizer->groups, [&](const OptimizerGroup &group) {
    return keepsState(*plan.optimizer, group);
  });
  if (!keeps)
    context.diagnostics
        .error(option.range, "'state' is the dtype of optimizer states, and 'sgd' without momentum has none")
        .note(plan.optimizer->range, "the optimizer is here")
        .help("add 'momentum NUMBER' to the optimizer, or remove '" + option.text + "'");
}

/// Checks that the compute dtype is the model's, or a 16-bit one for an f32 model, which PyTorch's autocast supports.
void checkCompute(const Context &context, const BoundPrecision &precision, const Option &option) {
  const std::string &compute = precision.compute;
  if (!llvm::is_contained(dtypeNames(), compute))
    return;
  for (const OutlineParameter &parameter : context.model.parameters) {
    bool fits = parameter.dtype == compute || (parameter.dtype == "f32" && bitsOf(compute) == 16);
    if (parameter.dtype.empty() || fits)
      continue;
    std::string wanted = bitsOf(compute) == 16 ? "f32" : compute;
    context.diagnostics
        .error(option.range, "'" + option.text + "' is for models in " + wanted + ", and parameter '" +
                                 parameterPath(context.model, parameter) + "' is " + parameter.dtype)
        .help("export the model in " + wanted + ", or remove '" + option.text +
              "': a model computes in the dtypes that it was exported in");
    return;
  }
}

/// Checks that partial sums are sent in the 16-bit type that the model computes in, or in f32.
void checkActivations(const Context &context, const BoundPrecision &precision, const Option &option) {
  const std::string &stated = precision.activations;
  if (!llvm::is_contained(dtypeNames(), stated))
    return;
  std::vector<std::string> narrow, all;
  auto add = [&](const std::string &dtype) {
    if (!dtype.empty() && !llvm::is_contained(all, dtype))
      all.push_back(dtype);
    if (!dtype.empty() && bitsOf(dtype) == 16 && !llvm::is_contained(narrow, dtype))
      narrow.push_back(dtype);
  };
  for (const OutlineParameter &parameter : context.model.parameters)
    add(parameter.dtype);
  add(precision.compute);
  if (llvm::is_contained(narrow, stated) || (stated == "f32" && !narrow.empty()))
    return;
  llvm::sort(all);
  std::string own = quotedList(all, ","),
              problem = "'" + option.text + "' does not fit a model that computes in " + own;
  if (stated == "f32")
    problem = "'" + option.text + "' has no effect: the model computes in " + own + ", and no sum is of 16 bits";
  std::string forms = "'activations f32'";
  for (const std::string &dtype : narrow)
    forms += " or 'activations " + dtype + "'";
  context.diagnostics.error(option.range, problem)
      .help(narrow.empty() ? "remove '" + option.text + "', or export the model in 16 bits, or add 'compute bf16'"
                           : "partial sums are sent as they are, or in f32: write " + forms);
}

OptionRule dtypeRule(const Context &context, const BoundPlan &plan, std::string name, std::string &target) {
  auto take = [&context, &plan, &target](const Option &option) {
    std::optional<std::string> word = singleWord(option);
    if (!word)
      return false;
    if (llvm::is_contained(dtypeNames(), *word))
      checkUse(context, plan, option);
    else
      reportDtype(context, *singleOperand(option));
    target = *word;
    return true;
  };
  return {name, name + " DTYPE", take};
}

} // namespace

void bind::bindPrecision(const Context &context, const PrecisionStatement &statement, BoundPlan &plan) {
  if (statement.options.empty())
    context.diagnostics.error(statement.range, "'precision' states no dtype, and so has no effect")
        .help("write one, as in 'precision { master f32; reduce f32 }', or remove the statement");
  BoundPrecision precision;
  precision.range = statement.range;
  precision.ranges = optionRanges(statement.options);
  std::vector<OptionRule> rules;
  for (auto [name, member] : precisionTypes)
    rules.push_back(dtypeRule(context, plan, name, precision.*member));
  rules.push_back(lossScaleRule(context, precision));
  readOptions(context, "precision", statement.options, rules);
  for (const Option &option : statement.options)
    if (option.name.text == "compute")
      checkCompute(context, precision, option);
    else if (option.name.text == "master")
      checkMaster(context, plan, precision, option);
    else if (option.name.text == "state")
      checkState(context, plan, option);
    else if (option.name.text == "activations")
      checkActivations(context, precision, option);
  plan.precision = std::move(precision);
}
