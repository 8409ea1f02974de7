//===- start_watch.h - a time-out for MPI's start-up ------------*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_COMM_MPI_START_WATCH_H
#define MESHPLAN_RUNTIME_COMM_MPI_START_WATCH_H

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

namespace meshplan {

/// Calls `expired` on a thread of its own if this object still exists after `timeout`. MPI's start-up waits for all
/// processes of the job, possibly forever, and cannot be stopped: `expired` must end the process.
class StartWatch {
public:
  StartWatch(std::chrono::milliseconds timeout, std::function<void()> expired);
  ~StartWatch();
  StartWatch(const StartWatch &) = delete;
  StartWatch &operator=(const StartWatch &) = delete;

private:
  std::mutex mutex;
  std::condition_variable changed;
  bool over = false;
  std::thread thread;
};

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_COMM_MPI_START_WATCH_H
