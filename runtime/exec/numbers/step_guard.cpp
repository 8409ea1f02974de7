//===- step_guard.cpp - loss scale and skipped steps ----------------------===//

#include "runtime/exec/numbers/step_guard.h"

#include "runtime/schema/loss_scale.h"

#include <algorithm>
#include <cmath>

using namespace meshplan;

StepGuard::StepGuard(const artifact::Guard *guard, double scale, const StepCounters &counters)
    : guard(guard), scale(scale), skippedSteps(counters.skipped), stepsInRow(counters.stepsInRow) {
  bool isDynamic = guard && guard->interval() > 0;
  if (isDynamic && counters.lossScale > 0)
    this->scale = counters.lossScale;
  // The previous plan may have had a longer interval. The row is cut so that the next good step reaches the interval:
  // above it, the comparison in `take` would never be true again.
  if (isDynamic)
    stepsInRow = std::min(stepsInRow, guard->interval() - 1);
}

void StepGuard::take(int64_t nonfinite) {
  if (!guard)
    return;
  bool isDynamic = guard->interval() > 0;
  double next = scale;
  if (nonfinite > 0) {
    ++skippedSteps;
    stepsInRow = 0;
    if (isDynamic)
      next *= guard->backoff();
  } else if (isDynamic && ++stepsInRow == guard->interval()) {
    next *= guard->growth();
    stepsInRow = 0;
  }
  // A scale that leaves the range would make all gradients zero or infinite, so the last valid one is kept.
  if (isLossScale(next))
    scale = next;
}
