//===- rate_schedule.h - which schedules of a learning rate exist -*- C++ -*-===//
//
// Which numbers make a schedule, decided once for the language, the dialects
// and the loader of the artifact. The formula is that of RateSchedule in
// schedule.fbs.
//
// Header only, standard library only, no state. The functions are pure and
// thread safe.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_RUNTIME_SCHEMA_RATE_SCHEDULE_H
#define MESHPLAN_RUNTIME_SCHEMA_RATE_SCHEDULE_H

#include <cstdint>

namespace meshplan {

/// True if the warm-up and, after it, the decay (0 for all kinds but `wsd`) lie within the steps of the training. They
/// may fill it: a warm-up of all steps ends with the full rate, and from step `steps` on the rate is at its minimum.
/// torch.optim and transformers accept that, too.
constexpr bool isWithinSteps(int64_t warmup, int64_t decay, int64_t steps) {
  // Not as a sum, which may overflow.
  return warmup >= 0 && decay >= 0 && warmup <= steps && decay <= steps - warmup;
}

/// True if the rate may end at this part of the full rate. False for NaN.
constexpr bool isRateMinimum(double min) { return min >= 0 && min <= 1; }

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_SCHEMA_RATE_SCHEDULE_H
