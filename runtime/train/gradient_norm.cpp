//===- gradient_norm.cpp - the gradient norm of a step --------------------===//

#include "runtime/train/gradient_norm.h"

#include "runtime/artifact/call_args.h"

#include <cmath>

using namespace meshplan;

/// The squared norm that the clipping kernel reads; nullopt if there is none.
static std::optional<int> squaredNorm(const artifact::Program &program) {
  for (const artifact::Instruction *instruction : *program.instructions()) {
    const artifact::Compute *call = instruction->action_as_Compute();
    if (!call || call->target()->string_view() != "meshplan.clip_factor")
      continue;
    if (int value = valueArg(*call, "squared_norm"); value >= 0)
      return value;
  }
  return std::nullopt;
}

GradientNorm::GradientNorm(const Walk &step) {
  if (std::optional<int> value = squaredNorm(step.view().program())) {
    own.values = {*value};
    // The program frees its value after the clipping; this reference keeps the one number.
    own.see = [this](int, const Tensor &tensor) { squared = tensor; };
  }
}

Expected<std::optional<double>> GradientNorm::value(std::optional<double> lossScale) const {
  if (!squared.defined())
    return std::optional<double>();
  MESHPLAN_ASSIGN_OR_RETURN(Tensor host, onHost(squared));
  double number = 0;
  convertFloats(host.data(), host.dtype(), reinterpret_cast<std::byte *>(&number), DType::f64, 1);
  // Gradients are multiplied by the loss scale until the optimizer removes it.
  return std::optional(std::sqrt(number) / lossScale.value_or(1));
}
