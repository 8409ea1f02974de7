//===- gradient_norm.h - the norm that a step clips by -----------*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_TRAIN_GRADIENT_NORM_H
#define MESHPLAN_RUNTIME_TRAIN_GRADIENT_NORM_H

#include "runtime/exec/executor.h"

namespace meshplan {

/// Sees the norm of all gradients, before they are clipped, in the runs of a step that it is given to. A program
/// without `clip_grad_norm` computes none.
class GradientNorm {
public:
  explicit GradientNorm(const Executor &step);
  GradientNorm(const GradientNorm &) = delete;

  /// Null where there is nothing to see.
  const Observer *observer() const { return own.values.empty() ? nullptr : &own; }

  /// That of the last run, of the gradients as they are without a scale of the loss. Fails as the copy from a device
  /// does.
  Expected<std::optional<double>> value(std::optional<double> lossScale) const;

private:
  Observer own;
  Tensor squared;
};

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_TRAIN_GRADIENT_NORM_H
