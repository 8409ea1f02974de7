//===- ending_signal.h - signals as requests to stop ------------*- C++ -*-===//
//
// Handles SIGTERM, SIGUSR1 and SIGINT as requests. A launcher that ends a run sends SIGTERM to all its processes; a
// rank turns it into a failure, so that every rank says why it ended. A training run takes the first SIGTERM, SIGUSR1
// or SIGINT (Ctrl-C) as a request to save and to end after the current step.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_RUNTIME_BASE_ENDING_SIGNAL_H
#define MESHPLAN_RUNTIME_BASE_ENDING_SIGNAL_H

#include "runtime/base/status.h"

#include <cstdint>

namespace meshplan {

/// Blocks SIGTERM from now on, in this thread and in the threads it starts. Call before other threads exist.
void holdEndingSignal();

/// Returns "rank 2 was asked to stop (SIGTERM)" once for each signal that was blocked; ok if there is none. After
/// holdStopRequests the first signal is a request to stop, not a failure.
Status takeEndingSignal(int64_t rank);

/// Blocks SIGTERM and SIGUSR1 from now on, in this thread and in the threads it starts, and treats them as requests to
/// stop. Call before other threads exist. The first SIGINT is a request too, and says so on a terminal; the second has
/// its previous effect. A SIGINT that the process ignores stays ignored.
void holdStopRequests();

/// Prints `text` when SIGINT arrives, which then has its previous effect. `text` must live as long as the process.
void sayAtInterrupt(const char *text);

/// The name of the signal that asked this process to stop since holdStopRequests, or null. Any thread may ask; a
/// request stays.
const char *stopRequest();

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_BASE_ENDING_SIGNAL_H
