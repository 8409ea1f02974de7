//===- ending_signal.h - SIGTERM as a message --------------------*- C++ -*-===//
//
// A launcher that ends a run sends SIGTERM to all its processes. A rank takes it
// as a reason to end the run, so that every rank says why. A training run takes
// the first one, SIGUSR1 and the first SIGINT (Ctrl-C) as a wish to save and to
// end behind the step.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_RUNTIME_BASE_ENDING_SIGNAL_H
#define MESHPLAN_RUNTIME_BASE_ENDING_SIGNAL_H

#include "runtime/base/status.h"

#include <cstdint>

namespace meshplan {

/// Holds the signal back from now on, in this thread and those that it starts. Call before other threads exist.
void holdEndingSignal();

/// "rank 2 was told to stop (SIGTERM)", once for each signal that was held back; ok when there is none.
/// After holdStopRequests the first one is a wish and no failure.
Status takeEndingSignal(int64_t rank);

/// Holds SIGTERM and SIGUSR1 back from now on, in this thread and those that it starts, as wishes to stop. Call before
/// other threads exist. The first SIGINT is a wish, too, and says so on a terminal; another one does what SIGINT did
/// before. A SIGINT that the process ignores stays ignored.
void holdStopRequests();

/// Says `text`, which lives as long as the process, when SIGINT comes, which then does what it did before.
void sayAtInterrupt(const char *text);

/// The name of the signal by which this process was asked to stop since holdStopRequests, or null. Any thread may ask,
/// and a wish stays.
const char *stopRequest();

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_BASE_ENDING_SIGNAL_H
