//===- run_rank.h - running one rank ----------------------------*- C++ -*-===//
//
// The parts of running a rank that the backends share.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_RUNTIME_COMM_RUN_RANK_H
#define MESHPLAN_RUNTIME_COMM_RUN_RANK_H

#include "runtime/comm/communicator.h"

#include <functional>

namespace meshplan {

/// The program of one rank.
using RankBody = std::function<Status(World &)>;

struct RankOptions {
  /// The time-out of every wait without a limit of its own.
  std::chrono::milliseconds timeout = std::chrono::seconds(600);

  /// Called on the thread of a rank whose body has failed, before the backend waits for the other ranks, because the
  /// launcher may kill the process meanwhile.
  std::function<void(int64_t rank, const Status &failure)> onFailure;

  /// Called if the run has failed and `ranks` of this process have not returned within `timeout`. They are stuck in
  /// their own code, and a thread cannot be ended from outside, so a program reports and exits. Without it, the backend
  /// keeps waiting.
  std::function<void(const Status &cause, std::span<const int64_t> ranks)> onStuck;

  /// Called by the progress threads of `threads` and `mpi` before they move data. Tests delay them by it.
  std::function<void()> beforeProgress = nullptr;

  /// If false, builds with assertions do not check the order of starts (threads/issue_order.h), as other builds never
  /// do: for tests of what happens then.
  bool checksOrder = true;
};

/// Calls `body`. An exception becomes a failure. A failure is reported to onFailure and ends the other ranks.
Status runRank(World &world, const RankOptions &options, const RankBody &body);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_COMM_RUN_RANK_H
