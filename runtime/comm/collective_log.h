//===- collective_log.h - the last collectives of a rank ---------*- C++ -*-===//
//
// A ring of what a rank has started last, for the report of a run that ends
// badly: which collective is open, what came before, and how long it took. Twin
// of PyTorch's flight recorder, always on.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_RUNTIME_COMM_COLLECTIVE_LOG_H
#define MESHPLAN_RUNTIME_COMM_COLLECTIVE_LOG_H

#include "runtime/base/status.h"

#include <chrono>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace meshplan {

/// Thread safe: a rank writes, and who reports a failure reads.
class CollectiveLog {
public:
  using Clock = std::chrono::steady_clock;

  struct Entry {
    int64_t number = 0; ///< of all that the rank has started, from 0
    int64_t step = 0;   ///< of the run that it belongs to, see beginStep
    std::string what;   ///< "all-reduce 12 on 'tp' (smollm2.plan:12 rowwise tp)"
    int64_t bytes = 0;  ///< that the rank gives
    Clock::time_point started;
    std::optional<Clock::time_point> ended; ///< when the rank had waited for it; nothing: it has not
    StatusCode outcome = StatusCode::ok;
  };

  /// Keeps the last `capacity`.
  explicit CollectiveLog(size_t capacity = 256) : capacity(capacity) {}

  /// What is started from now on belongs to this step, counted from 1.
  void beginStep(int64_t step);

  /// Returns the number of the entry.
  int64_t start(std::string what, int64_t bytes);

  /// The rank has waited for it. An entry that is not kept any more is left alone.
  void end(int64_t number, StatusCode outcome);

  /// The oldest first.
  std::vector<Entry> entries() const;

  /// What was started and not waited for, the oldest first.
  std::vector<std::string> open() const;

private:
  size_t capacity;
  mutable std::mutex mutex;
  std::deque<Entry> kept;
  int64_t count = 0, step = 0;
};

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_COMM_COLLECTIVE_LOG_H
