//===- ending_signal.cpp - SIGTERM as a message ---------------------------===//

#include "runtime/base/ending_signal.h"

#include <atomic>
#include <csignal>
#include <ctime>

using namespace meshplan;

// Signals are sent to a process, whichever of its runs they are meant for.
static std::atomic<bool> asksForStops;
static std::atomic<const char *> request;

static sigset_t setOf(std::initializer_list<int> numbers) {
  sigset_t signals;
  sigemptyset(&signals);
  for (int number : numbers)
    sigaddset(&signals, number);
  return signals;
}

static void hold(const sigset_t &signals) { pthread_sigmask(SIG_BLOCK, &signals, nullptr); }

/// One that was held back, or -1.
static int take(const sigset_t &signals) {
  struct timespec immediately = {};
  return sigtimedwait(&signals, nullptr, &immediately);
}

void meshplan::holdEndingSignal() { hold(setOf({SIGTERM})); }

void meshplan::holdStopRequests() {
  hold(setOf({SIGTERM, SIGUSR1}));
  asksForStops = true;
}

const char *meshplan::stopRequest() {
  if (asksForStops && !request)
    if (int signal = take(setOf({SIGTERM, SIGUSR1})); signal != -1)
      request = signal == SIGTERM ? "SIGTERM" : "SIGUSR1";
  return request;
}

Status meshplan::takeEndingSignal(int64_t rank) {
  if (asksForStops && !request) {
    stopRequest();
    return Status();
  }
  if (take(setOf({SIGTERM})) != SIGTERM)
    return Status();
  return Status::error(StatusCode::aborted, "rank ", rank, " was told to stop (SIGTERM)");
}
