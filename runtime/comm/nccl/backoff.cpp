//===- backoff.cpp - polling with growing rests ---------------------------===//

#include "runtime/comm/nccl/backoff.h"

#include <algorithm>
#include <future>
#include <thread>

using namespace meshplan;

// A training step takes milliseconds, so a longer sleep would slow it down.
static constexpr int yieldingTurns = 200;
static constexpr std::chrono::microseconds shortestRest{10}, longestRest{200};

void Backoff::rest() {
  if (turns++ < yieldingTurns)
    return std::this_thread::yield();
  int doublings = std::min(turns - yieldingTurns, 10);
  std::this_thread::sleep_for(std::min(longestRest, shortestRest * (1 << doublings)));
}

bool meshplan::pollFor(std::chrono::milliseconds limit, const std::function<bool()> &isDone) {
  auto deadline = std::chrono::steady_clock::now() + limit;
  Backoff backoff;
  while (!isDone()) {
    if (std::chrono::steady_clock::now() >= deadline)
      return false;
    backoff.rest();
  }
  return true;
}

bool meshplan::runFor(std::chrono::milliseconds limit, std::function<void()> task) {
  std::promise<void> promise;
  std::future<void> done = promise.get_future();
  // Detached, because a call that hangs can neither be ended nor joined.
  std::thread([task = std::move(task), promise = std::move(promise)]() mutable {
    task();
    promise.set_value();
  }).detach();
  return done.wait_for(limit) == std::future_status::ready;
}
