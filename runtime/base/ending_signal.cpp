//===- ending_signal.cpp - signals as requests to stop --------------------===//

#include "runtime/base/ending_signal.h"

#include <atomic>
#include <csignal>
#include <cstring>
#include <ctime>
#include <unistd.h>

using namespace meshplan;

// Static, because a signal reaches the process and not one of its runs, and because a handler may only use static
// storage and lock-free atomics.
static std::atomic<bool> asksForStops;
static std::atomic<const char *> request, interruptText;
static struct sigaction beforeInterrupts;
static_assert(std::atomic<const char *>::is_always_lock_free && std::atomic<bool>::is_always_lock_free);

static sigset_t setOf(std::initializer_list<int> numbers) {
  sigset_t signals;
  sigemptyset(&signals);
  for (int number : numbers)
    sigaddset(&signals, number);
  return signals;
}

static void hold(const sigset_t &signals) { pthread_sigmask(SIG_BLOCK, &signals, nullptr); }

/// Takes one pending signal of the set; -1 if there is none.
static int take(const sigset_t &signals) {
  struct timespec immediately = {};
  return sigtimedwait(&signals, nullptr, &immediately);
}

/// Uses only calls that POSIX allows in a signal handler.
static void say(const char *text) {
  if (text)
    (void)!::write(STDERR_FILENO, text, std::strlen(text));
}

static void interrupt(int signal) {
  const char *none = nullptr;
  if (asksForStops && request.compare_exchange_strong(none, "SIGINT"))
    return say(interruptText);
  if (!asksForStops)
    say(interruptText);
  // The raised signal is delivered after this handler returns. The previous handler removes temporary files and ends
  // the process, if the program has installed one.
  ::sigaction(signal, &beforeInterrupts, nullptr);
  ::raise(signal);
}

static void handleInterrupts(const char *text) {
  interruptText = text;
  struct sigaction handler = {};
  if (::sigaction(SIGINT, nullptr, &beforeInterrupts) != 0 || beforeInterrupts.sa_handler == SIG_IGN)
    return;
  handler.sa_handler = interrupt;
  handler.sa_flags = SA_RESTART;
  ::sigaction(SIGINT, &handler, nullptr);
}

void meshplan::holdEndingSignal() { hold(setOf({SIGTERM})); }

void meshplan::holdStopRequests() {
  hold(setOf({SIGTERM, SIGUSR1}));
  asksForStops = true;
  handleInterrupts(::isatty(STDERR_FILENO) == 1
                       ? "\nmeshplan-run: finishing and saving this step; press Ctrl-C again to "
                         "quit at once\n"
                       : nullptr);
}

void meshplan::sayAtInterrupt(const char *text) { handleInterrupts(text); }

const char *meshplan::stopRequest() {
  if (asksForStops && !request)
    if (int signal = take(setOf({SIGTERM, SIGUSR1})); signal != -1)
      request = signal == SIGTERM ? "SIGTERM" : "SIGUSR1";
  return request;
}

Status meshplan::takeEndingSignal(int64_t rank) {
  // The first signal is the request, which stopRequest keeps. Only the next one ends the run at once.
  if (asksForStops && !request) {
    stopRequest();
    return Status();
  }
  if (take(setOf({SIGTERM})) != SIGTERM)
    return Status();
  return Status::error(StatusCode::aborted, "rank ", rank, " was asked to stop (SIGTERM)");
}
