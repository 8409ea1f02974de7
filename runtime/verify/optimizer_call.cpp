//===- optimizer_call.cpp - what the optimizer of a schedule does ---------===//

#include "runtime/verify/optimizer_call.h"

#include "runtime/exec/numbers/settings.h"

#include <algorithm>

using namespace meshplan;

static const artifact::Arg *findArg(const artifact::Compute &call, std::string_view name) {
  for (const artifact::Arg *arg : *call.args())
    if (arg->name() && arg->name()->string_view() == name)
      return arg;
  return nullptr;
}

/// The value that is passed, or -1.
static int valueArg(const artifact::Compute &call, std::string_view name) {
  const artifact::Arg *arg = findArg(call, name);
  return arg && arg->kind() == artifact::ArgKind::value ? arg->values()->Get(0) : -1;
}

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
  for (flatbuffers::uoffset_t i = 0; program.settings() && i < program.settings()->size(); ++i)
    if (program.settings()->Get(i)->value() == value)
      return Settings(program).numberAt(*program.settings()->Get(i), 0);
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

Expected<std::optional<OptimizerNumbers>> meshplan::optimizerOf(const artifact::Program &program,
                                                                const artifact::Gradient &gradient) {
  const artifact::Compute *call = findCall(program, [&](const artifact::Compute &each) {
    return valueArg(each, "parameter") == gradient.parameter() && valueArg(each, "gradient") == gradient.value() &&
           each.overwrites() && each.overwrites()->size() > 0;
  });
  if (!call)
    return std::optional<OptimizerNumbers>();
  MESHPLAN_ASSIGN_OR_RETURN(OptimizerKind kind, kindOf(*call));
  return std::optional(OptimizerNumbers{.kind = kind,
                                        .rate = settingAt(program, valueArg(*call, "learning_rate")),
                                        .weightDecay = realArg(*call, "weight_decay"),
                                        .beta1 = realArg(*call, "beta1"),
                                        .beta2 = realArg(*call, "beta2"),
                                        .eps = realArg(*call, "eps"),
                                        .momentum = realArg(*call, "rate"),
                                        .dampening = realArg(*call, "dampening"),
                                        .nesterov = flagArg(*call, "nesterov")});
}
