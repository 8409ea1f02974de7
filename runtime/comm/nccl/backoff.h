//===- backoff.h - polling with growing rests -------------------*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_COMM_NCCL_BACKOFF_H
#define MESHPLAN_RUNTIME_COMM_NCCL_BACKOFF_H

#include <chrono>
#include <functional>

namespace meshplan {

/// The rest between two polls. It first yields, since most waits are short, and then sleeps longer and longer.
class Backoff {
public:
  void rest();
  void reset() { turns = 0; }

private:
  int turns = 0;
};

/// Calls `isDone` until it returns true or `limit` has passed. Returns its last result.
bool pollFor(std::chrono::milliseconds limit, const std::function<bool()> &isDone);

/// Runs `task` on a thread of its own and waits at most `limit` for it. False: it is still running, and the thread is
/// left to itself. For library calls that may hang because a peer has died.
bool runFor(std::chrono::milliseconds limit, std::function<void()> task);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_COMM_NCCL_BACKOFF_H
