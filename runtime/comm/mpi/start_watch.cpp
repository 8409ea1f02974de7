//===- start_watch.cpp - a time-out for MPI's start-up --------------------===//

#include "runtime/comm/mpi/start_watch.h"

#include <utility>

using namespace meshplan;

StartWatch::StartWatch(std::chrono::milliseconds timeout, std::function<void()> expired)
    : thread([this, timeout, expired = std::move(expired)] {
        std::unique_lock lock(mutex);
        if (!changed.wait_for(lock, timeout, [this] { return over; }))
          expired();
      }) {}

StartWatch::~StartWatch() {
  {
    std::lock_guard lock(mutex);
    // Under the lock, so that the change cannot fall between the thread's test and its sleep.
    over = true;
  }
  changed.notify_all();
  thread.join();
}
