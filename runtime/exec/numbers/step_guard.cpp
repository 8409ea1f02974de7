//===- step_guard.cpp - behind steps that were no numbers -----------------===//

#include "runtime/exec/numbers/step_guard.h"

#include <cmath>

using namespace meshplan;

bool meshplan::isLossScale(double number) {
  auto scale = static_cast<float>(number);
  return number > 0 && std::isnormal(scale) && std::isnormal(1 / scale);
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
  if (isLossScale(next))
    scale = next;
}
