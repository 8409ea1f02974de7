//===- step_guard.h - behind steps that were no numbers ----------*- C++ -*-===//
//
// What torch.amp.GradScaler does in `step` and `update`: a step whose gradients
// have NaN or infinite elements has changed nothing, is not counted by the
// optimizer, and makes the scale of the loss smaller.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_RUNTIME_EXEC_NUMBERS_STEP_GUARD_H
#define MESHPLAN_RUNTIME_EXEC_NUMBERS_STEP_GUARD_H

#include "runtime/artifact/artifact.h"

namespace meshplan {

/// Whether f32, in which gradients are multiplied by a scale and by its inverse, holds both.
bool isLossScale(double number);

/// The numbers that follow from step to step. All ranks have the same.
class StepGuard {
public:
  /// `guard` must outlive this; null: every step counts. `scale` is that of the first step.
  StepGuard(const artifact::Guard *guard, double scale) : guard(guard), scale(scale) {}

  /// Takes how many elements were no numbers in the step that has run. A scale that f32 would not hold is not taken, as
  /// GradScaler does not grow into infinity.
  void take(int64_t nonfinite);

  /// The scale of the next step's loss.
  double lossScale() const { return scale; }

  /// Steps that have changed nothing, since the run began.
  int64_t skipped() const { return skippedSteps; }

private:
  const artifact::Guard *guard;
  double scale;
  int64_t skippedSteps = 0, stepsInRow = 0;
};

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_EXEC_NUMBERS_STEP_GUARD_H
