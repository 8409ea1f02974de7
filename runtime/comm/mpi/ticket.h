//===- ticket.h - how far a collective has come ------------------*- C++ -*-===//
//
// What the thread of a rank and the thread of communication both see of one
// collective. Thread safe.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_RUNTIME_COMM_MPI_TICKET_H
#define MESHPLAN_RUNTIME_COMM_MPI_TICKET_H

#include "runtime/base/status.h"

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <vector>

namespace meshplan {

/// What a collective waits for.
struct Progress {
  bool moving = false;          ///< all have started it, and data moves
  std::vector<int64_t> missing; ///< ranks that have not started it, or whose data has not moved
};

class Ticket {
public:
  explicit Ticket(std::vector<int64_t> missing) : state{false, std::move(missing)} {}

  // For the thread of communication.

  /// Something has come or gone, which is a sign of life.
  void update(Progress progress);
  /// Ends it, once: the buffers of the rank are not used any more.
  void finish(Status status);
  /// Ends it, unless it has ended, because of a failure elsewhere.
  void abort(Status cause);

  // For the thread of the rank.

  /// False when nothing has happened for `limit`. A peer that has started needs only time, as long as data moves. Calls
  /// `beforeEnd`, if there is one, `lead` before it gives up.
  bool wait(std::chrono::milliseconds limit, std::chrono::milliseconds lead = {},
            const std::function<void()> &beforeEnd = nullptr);
  bool finished() const;
  /// Of what has finished; when `aborted`, the cause, which is about another collective or rank.
  Status result(bool &aborted) const;
  Progress progress() const;

private:
  bool endsWithin(std::unique_lock<std::mutex> &lock, std::chrono::milliseconds limit);

  mutable std::mutex mutex;
  std::condition_variable changed;
  Progress state;
  int64_t updates = 0;
  bool ended = false, wasAborted = false;
  Status outcome;
};

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_COMM_MPI_TICKET_H
