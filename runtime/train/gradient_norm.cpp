//===- gradient_norm.cpp - the norm that a step clips by ------------------===//

#include "runtime/train/gradient_norm.h"

#include <cmath>

using namespace meshplan;

/// The operand of the call that makes a factor of the norm, or nothing.
static std::optional<int> squaredNorm(const artifact::Program &program) {
  for (const artifact::Instruction *instruction : *program.instructions()) {
    const artifact::Compute *call = instruction->action_as_Compute();
    if (!call || call->target()->string_view() != "meshplan.clip_factor")
      continue;
    for (const artifact::Arg *argument : *call->args())
      if (argument->kind() == artifact::ArgKind::value && argument->values()->size() == 1)
        return argument->values()->Get(0);
  }
  return std::nullopt;
}

GradientNorm::GradientNorm(const Executor &step) {
  if (std::optional<int> value = squaredNorm(step.place().program())) {
    own.values = {*value};
    own.see = [this](int, const Tensor &tensor) { squared = tensor; };
  }
}

Expected<std::optional<double>> GradientNorm::value(std::optional<double> lossScale) const {
  if (!squared.defined())
    return std::optional<double>();
  MESHPLAN_ASSIGN_OR_RETURN(Tensor host, onHost(squared));
  double number = 0;
  convertFloats(host.data(), host.dtype(), reinterpret_cast<std::byte *>(&number), DType::f64, 1);
  return std::optional(std::sqrt(number) / lossScale.value_or(1));
}
