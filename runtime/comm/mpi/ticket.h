//===- ticket.h - the state of a collective ---------------------*- C++ -*-===//
//
// The state of one collective, shared by the rank's thread and the progress thread. Thread safe.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_RUNTIME_COMM_MPI_TICKET_H
#define MESHPLAN_RUNTIME_COMM_MPI_TICKET_H

#include "runtime/base/status.h"
#include "runtime/comm/communicator.h"

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <vector>

namespace meshplan {

/// What a collective is waiting for.
struct Progress {
  bool moving = false;          ///< all ranks have started it, and data moves
  std::vector<int64_t> missing; ///< ranks that have not started it, or whose data has not moved
};

class Ticket {
public:
  explicit Ticket(std::vector<int64_t> missing) : state{false, std::move(missing)} {}

  // For the progress thread.

  /// Records progress: a peer has started it, or data has moved. Data that moves restarts the time-out. A start does
  /// not: every peer has to start within `limit`, however many others do.
  void update(Progress progress);
  /// Ends it, once: the rank's buffers are no longer used.
  void finish(Status status);
  /// Ends it, unless it has ended, because of a failure elsewhere.
  void abort(Status cause);

  // For the rank's thread.

  /// False if a peer has not started it within `limit`, or no data has moved for `limit`. As long as data moves the
  /// wait continues, however long it takes. Calls `beforeEnd`, if given, `lead` before it gives up.
  bool wait(std::chrono::milliseconds limit, std::chrono::milliseconds lead = {},
            const std::function<void()> &beforeEnd = nullptr);
  bool finished() const;
  /// The result of a finished collective. With `aborted` it is the cause, which concerns another collective or rank.
  Status result(bool &aborted) const;
  Progress progress() const;
  /// When data began to move, and when it ended. Only if it is finished.
  MoveInterval interval() const;

private:
  bool endsWithin(std::unique_lock<std::mutex> &lock, std::chrono::milliseconds limit);

  mutable std::mutex mutex;
  std::condition_variable changed;
  Progress state;
  int64_t updates = 0;
  bool ended = false, wasAborted = false;
  Status outcome;
  MoveInterval movedIn{std::chrono::steady_clock::time_point::max(), {}};
};

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_COMM_MPI_TICKET_H
