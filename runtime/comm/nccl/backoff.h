//===- backoff.h - polling that sleeps longer and longer ---------*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_COMM_NCCL_BACKOFF_H
#define MESHPLAN_RUNTIME_COMM_NCCL_BACKOFF_H

#include <chrono>
#include <functional>

namespace meshplan {

/// Between two polls of something that is done soon, or late.
class Backoff {
public:
  void rest();
  void reset() { turns = 0; }

private:
  int turns = 0;
};

/// Calls `isDone` until it gives true or `limit` is over; what it gave last.
bool pollFor(std::chrono::milliseconds limit, const std::function<bool()> &isDone);

/// Runs `task` in a thread of its own and waits for it for `limit`. False: it is still running, and nobody waits for
/// it any more. For calls of a library that may hang because a peer has gone.
bool runFor(std::chrono::milliseconds limit, std::function<void()> task);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_COMM_NCCL_BACKOFF_H
