//===- step_guard.cpp - behind steps that were no numbers -----------------===//

#include "runtime/exec/numbers/step_guard.h"

using namespace meshplan;

void StepGuard::take(int64_t nonfinite) {
  if (!guard)
    return;
  bool isDynamic = guard->interval() > 0;
  if (nonfinite > 0) {
    ++skippedSteps;
    stepsInRow = 0;
    if (isDynamic)
      scale *= guard->backoff();
  } else if (isDynamic && ++stepsInRow == guard->interval()) {
    scale *= guard->growth();
    stepsInRow = 0;
  }
}
