//===- gradient_norm.h - the gradient norm of a step ------------*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_TRAIN_GRADIENT_NORM_H
#define MESHPLAN_RUNTIME_TRAIN_GRADIENT_NORM_H

#include "runtime/exec/walk.h"

namespace meshplan {

/// Observes the norm of all gradients, before clipping, in the runs of a step that use its observer. A program without
/// `clip_grad_norm` does not compute one.
class GradientNorm {
public:
  explicit GradientNorm(const Walk &step);
  GradientNorm(const GradientNorm &) = delete;

  /// Null if there is no norm.
  const Observer *observer() const { return own.values.empty() ? nullptr : &own; }

  /// The norm of the last run, with the loss scale removed. Fails if the copy from the device does.
  Expected<std::optional<double>> value(std::optional<double> lossScale) const;

private:
  Observer own;
  Tensor squared;
};

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_TRAIN_GRADIENT_NORM_H
