//===- step_guard.h - loss scale and skipped steps --------------*- C++ -*-===//
//
// What torch.amp.GradScaler does in `step` and `update`. A step with non-finite gradients changes nothing, is not
// counted by the optimizer, and reduces the loss scale.
//
// Example: scale 1024, growth 2, backoff 0.5, interval 3. Steps with 0, 0, 5, 0, 0, 0 non-finite elements have the
// scales 1024, 1024, 1024, 512, 512, 512, and the next step has 1024 again.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_RUNTIME_EXEC_NUMBERS_STEP_GUARD_H
#define MESHPLAN_RUNTIME_EXEC_NUMBERS_STEP_GUARD_H

#include "runtime/artifact/artifact.h"

namespace meshplan {

/// How far a training has come. The numbers of the next step follow from these.
struct StepCounters {
  int64_t steps = 0;      ///< steps that have run, including those that changed nothing
  int64_t skipped = 0;    ///< the steps among them that changed nothing
  int64_t stepsInRow = 0; ///< consecutive steps since the loss scale changed or a step changed nothing
  double lossScale = 0;   ///< loss scale of the next step; 0: the loss is not scaled

  bool operator==(const StepCounters &) const = default;
};

/// The loss scale and the counts of steps. Equal on all ranks.
class StepGuard {
public:
  /// `guard` must outlive this; null: every step counts. `scale` is the scale of the first step.
  StepGuard(const artifact::Guard *guard, double scale) : guard(guard), scale(scale) {}

  /// Resumes from the counters of another guard. `scale` is used if the guard's scale is constant.
  StepGuard(const artifact::Guard *guard, double scale, const StepCounters &counters);

  /// Takes the number of non-finite elements of the finished step. The scale stays if f32 cannot hold the new one, as
  /// GradScaler does not grow to infinity.
  void take(int64_t nonfinite);

  /// The loss scale of the next step.
  double lossScale() const { return scale; }

  /// Number of steps since the run began that changed nothing.
  int64_t skipped() const { return skippedSteps; }

  /// Consecutive steps since the scale changed or a step changed nothing.
  int64_t inRow() const { return stepsInRow; }

private:
  const artifact::Guard *guard;
  double scale;
  int64_t skippedSteps = 0, stepsInRow = 0;
};

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_EXEC_NUMBERS_STEP_GUARD_H
