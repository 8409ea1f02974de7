//===- optimizer_call.cpp - the optimizer of a schedule -------------------===//

#include "runtime/verify/optimizer_call.h"

#include "runtime/artifact/call_args.h"
#include "runtime/artifact/vector_range.h"
#include "runtime/exec/numbers/settings.h"

#include <algorithm>

using namespace meshplan;

static double realArg(const artifact::Compute &call, std::string_view name) {
  const artifact::Arg *arg = findArg(call, name);
  return arg && arg->kind() == artifact::ArgKind::real ? arg->reals()->Get(0) : 0;
}

static bool flagArg(const artifact::Compute &call, std::string_view name) {
  const artifact::Arg *arg = findArg(call, name);
  return arg && arg->kind() == artifact::ArgKind::boolean && arg->bools()->Get(0) != 0;
}

template <typename Predicate>
static const artifact::Compute *findCall(const artifact::Program &program, const Predicate &predicate) {
  for (const artifact::Instruction *instruction : *program.instructions())
    if (const artifact::Compute *call = instruction->action_as_Compute(); call && predicate(*call))
      return call;
  return nullptr;
}

std::optional<Clipping> meshplan::clippingOf(const artifact::Program &program) {
  const artifact::Compute *call = findCall(program, [](const artifact::Compute &each) {
    return each.target()->string_view() == "meshplan.clip_factor" && valueArg(each, "squared_norm") >= 0;
  });
  return call ? std::optional(Clipping{valueArg(*call, "squared_norm"), realArg(*call, "limit")}) : std::nullopt;
}

/// The number of a setting at the first step.
static double settingAt(const artifact::Program &program, int value) {
  for (const artifact::Setting &setting : elementsOf(program.settings()))
    if (setting.value() == value)
      return Settings(program).numberAt(setting, 0);
  return 0;
}

static Expected<OptimizerKind> kindOf(const artifact::Compute &call) {
  std::string_view target = call.target()->string_view();
  if (target == "meshplan.adam")
    return flagArg(call, "decoupled") ? OptimizerKind::adamw : OptimizerKind::adam;
  if (target == "meshplan.sgd" || target == "meshplan.sgd_momentum")
    return OptimizerKind::sgd;
  return Status::error(StatusCode::unsupported, "LibTorch has no optimizer to compare '", target, "' with");
}

static const artifact::Parameter *parameterAt(const artifact::Program &program, int value) {
  for (const artifact::Parameter &parameter : elementsOf(program.parameters()))
    if (parameter.value() == value)
      return &parameter;
  return nullptr;
}

const artifact::State *meshplan::masterOf(const artifact::Program &program, int parameter) {
  const artifact::Parameter *owner = parameterAt(program, parameter);
  for (const artifact::State &state : elementsOf(owner ? program.states() : nullptr))
    // Other states begin at zeros, so a state that copies its parameter is the master weight.
    if (state.copies() && state.parameter()->string_view() == owner->names()->Get(0)->string_view())
      return &state;
  return nullptr;
}

/// The value that this one is a slice of, or a copy of in another memory; else the value itself.
static int wholeOf(const artifact::Program &program, int value) {
  for (const artifact::Instruction *instruction : *program.instructions()) {
    if (const artifact::Slice *slice = instruction->action_as_Slice(); slice && slice->output() == value)
      // With sharded optimizers the call updates a slice, possibly on the host; followed back to the parameter itself.
      return wholeOf(program, slice->input());
    if (const artifact::Copy *copy = instruction->action_as_Copy(); copy && copy->output() == value)
      return wholeOf(program, copy->input());
  }
  return value;
}

/// Two parameters may have the same gradient, so the call must also name the parameter.
static bool isOf(const artifact::Program &program, const artifact::Compute &call, const artifact::Gradient &gradient) {
  // Optimizer calls are the calls that update their first argument in place by this gradient.
  if (valueArg(call, "gradient") != gradient.value() || !call.overwrites() || call.overwrites()->size() == 0)
    return false;
  int held = wholeOf(program, valueArg(call, "parameter"));
  // With master weights the call updates the master, and the parameter is a rounded copy.
  const artifact::State *master = masterOf(program, gradient.parameter());
  return held == gradient.parameter() || (master && held == master->value());
}

Expected<std::optional<OptimizerCall>> meshplan::optimizerOf(const artifact::Program &program,
                                                             const artifact::Gradient &gradient) {
  const artifact::Compute *call =
      findCall(program, [&](const artifact::Compute &each) { return isOf(program, each, gradient); });
  if (!call)
    return std::optional<OptimizerCall>();
  MESHPLAN_ASSIGN_OR_RETURN(OptimizerKind kind, kindOf(*call));
  OptimizerNumbers numbers{.kind = kind,
                           // The rate at the first step, which is the only one that verify runs.
                           .rate = settingAt(program, valueArg(*call, "learning_rate")),
                           .weightDecay = realArg(*call, "weight_decay"),
                           .beta1 = realArg(*call, "beta1"),
                           .beta2 = realArg(*call, "beta2"),
                           .eps = realArg(*call, "eps"),
                           .momentum = realArg(*call, "rate"),
                           .dampening = realArg(*call, "dampening"),
                           .nesterov = flagArg(*call, "nesterov")};
  return std::optional(OptimizerCall{numbers, valueArg(*call, "parameter"), call->outputs()->Get(0)});
}
