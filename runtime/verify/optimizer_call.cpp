//===- optimizer_call.cpp - what the optimizer of a schedule does ---------===//

#include "runtime/verify/optimizer_call.h"

#include "runtime/artifact/call_args.h"
#include "runtime/artifact/vector_range.h"
#include "runtime/exec/numbers/settings.h"
#include "runtime/verify/transfers.h"

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

/// The number that a setting has at the first step.
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
    if (state.copies() && state.parameter()->string_view() == owner->names()->Get(0)->string_view())
      return &state;
  return nullptr;
}

/// What a value is a part of, or a copy in another memory; itself where it is neither.
static int wholeOf(const artifact::Program &program, int value) {
  for (const artifact::Instruction *instruction : *program.instructions()) {
    if (const artifact::Slice *slice = instruction->action_as_Slice(); slice && slice->output() == value)
      return wholeOf(program, slice->input());
    const artifact::Compute *call = instruction->action_as_Compute();
    if (call && transferredBy(*call) >= 0 && call->outputs()->Get(0) == value)
      return wholeOf(program, transferredBy(*call));
  }
  return value;
}

/// Two parameters may have one gradient, so that the call has to name the parameter, too.
static bool isOf(const artifact::Program &program, const artifact::Compute &call, const artifact::Gradient &gradient) {
  if (valueArg(call, "gradient") != gradient.value() || !call.overwrites() || call.overwrites()->size() == 0)
    return false;
  int held = wholeOf(program, valueArg(call, "parameter"));
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
