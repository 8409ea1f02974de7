//===- ending_signal.cpp - SIGTERM as a message ---------------------------===//

#include "runtime/base/ending_signal.h"

#include <csignal>
#include <ctime>

using namespace meshplan;

static sigset_t endingSignals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  return signals;
}

void meshplan::holdEndingSignal() {
  sigset_t signals = endingSignals();
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
}

Status meshplan::takeEndingSignal(int64_t rank) {
  sigset_t signals = endingSignals();
  struct timespec immediately = {};
  if (sigtimedwait(&signals, nullptr, &immediately) != SIGTERM)
    return Status();
  return Status::error(StatusCode::aborted, "rank ", rank, " was told to stop (SIGTERM)");
}
