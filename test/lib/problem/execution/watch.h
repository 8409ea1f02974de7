//===- watch.h - notices that something takes too long ----------*- C++ -*-===//

#ifndef MESHPLAN_TEST_LIB_PROBLEM_EXECUTION_WATCH_H
#define MESHPLAN_TEST_LIB_PROBLEM_EXECUTION_WATCH_H

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

namespace meshplan::scheduling {

/// Calls `onLate`, once and on a thread of its own, if it lives longer than `limit`.
class Watch {
public:
  Watch(std::chrono::milliseconds limit, std::function<void()> onLate)
      : watcher([this, limit, onLate = std::move(onLate)] {
          std::unique_lock lock(mutex);
          if (!ended.wait_for(lock, limit, [&] { return isOver; }))
            onLate();
        }) {}
  Watch(const Watch &) = delete;
  Watch &operator=(const Watch &) = delete;
  ~Watch() {
    {
      std::lock_guard lock(mutex);
      isOver = true;
    }
    ended.notify_all();
    watcher.join();
  }

private:
  std::mutex mutex;
  std::condition_variable ended;
  bool isOver = false;
  std::thread watcher; // last member: the others exist when it begins
};

} // namespace meshplan::scheduling

#endif // MESHPLAN_TEST_LIB_PROBLEM_EXECUTION_WATCH_H
