//===- collective_log.h - the flight recorder -------------------*- C++ -*-===//
//
// The flight recorder: a ring buffer of the last collectives of a rank, for the report of a run that fails
// (runtime/train/failure_report.h). It shows which collective is not done, what came before, and how long each took.
// Twin of PyTorch's flight recorder; always on.
//
// Example. Rank 1 hangs before all-reduce 13. At the time-out of rank 0 the reports say:
//
//   rank 0:  all-reduce 12  ok, 3.1 ms    all-reduce 13  not waited for
//   rank 1:  all-reduce 12  ok, 3.0 ms
//
// Rank 1 has no entry for 13, so it never started it. The fault lies before that collective, not in the network.
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

/// Thread safe: the rank's thread writes; the thread that reports a failure reads.
class CollectiveLog {
public:
  using Clock = std::chrono::steady_clock;

  struct Entry {
    int64_t number = 0; ///< counts all collectives of the rank, from 0
    int64_t step = 0;   ///< the step it belongs to, see beginStep
    std::string what;   ///< "all-reduce 12 on 'tp' (smollm2.plan:12 rowwise tp)"
    int64_t bytes = 0;  ///< size of the rank's input
    Clock::time_point started;
    std::optional<Clock::time_point> ended; ///< when the rank's wait for it returned; nullopt: not yet
    StatusCode outcome = StatusCode::ok;
  };

  /// Keeps the last `capacity` entries.
  explicit CollectiveLog(size_t capacity = 256) : capacity(capacity) {}

  /// Collectives that start from now on belong to this step, counted from 1.
  void beginStep(int64_t step);

  /// Adds an entry and returns its number.
  int64_t start(std::string what, int64_t bytes);

  /// Records that the rank's wait returned. Ignored if the entry is no longer kept.
  void end(int64_t number, StatusCode outcome);

  /// All kept entries, oldest first.
  std::vector<Entry> entries() const;

  /// The descriptions of the collectives that were started and not waited for, oldest first.
  std::vector<std::string> open() const;

private:
  size_t capacity;
  mutable std::mutex mutex;
  std::deque<Entry> kept;
  int64_t count = 0, step = 0;
};

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_COMM_COLLECTIVE_LOG_H
