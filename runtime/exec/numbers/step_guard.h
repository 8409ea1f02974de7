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

/// How far a training has come: what the numbers of the next step follow from.
struct StepCounters {
  int64_t steps = 0;      ///< that have run, also those that changed nothing
  int64_t skipped = 0;    ///< of these, those that changed nothing
  int64_t stepsInRow = 0; ///< since the scale of the loss has changed, without one that changed nothing
  double lossScale = 0;   ///< of the next step; 0: the loss is not scaled

  bool operator==(const StepCounters &) const = default;
};

/// The numbers that follow from step to step. All ranks have the same.
class StepGuard {
public:
  /// `guard` must outlive this; null: every step counts. `scale` is that of the first step.
  StepGuard(const artifact::Guard *guard, double scale) : guard(guard), scale(scale) {}

  /// Goes on where another guard has been. Without a scale that changes, `scale` holds.
  StepGuard(const artifact::Guard *guard, double scale, const StepCounters &counters);

  /// Takes how many elements were no numbers in the step that has run. A scale that f32 would not hold is not taken, as
  /// GradScaler does not grow into infinity.
  void take(int64_t nonfinite);

  /// The scale of the next step's loss.
  double lossScale() const { return scale; }

  /// Steps that have changed nothing, since the run began.
  int64_t skipped() const { return skippedSteps; }

  /// Steps since the scale has changed, without one that changed nothing.
  int64_t inRow() const { return stepsInRow; }

private:
  const artifact::Guard *guard;
  double scale;
  int64_t skippedSteps = 0, stepsInRow = 0;
};

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_EXEC_NUMBERS_STEP_GUARD_H
