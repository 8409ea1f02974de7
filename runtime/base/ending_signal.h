//===- ending_signal.h - SIGTERM as a message --------------------*- C++ -*-===//
//
// A launcher that ends a run sends SIGTERM to all its processes. A rank takes it
// as a reason to end the run, so that every rank says why.
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
Status takeEndingSignal(int64_t rank);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_BASE_ENDING_SIGNAL_H
