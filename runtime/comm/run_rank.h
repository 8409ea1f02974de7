//===- run_rank.h - one rank of a run ----------------------------*- C++ -*-===//
//
// What the backends share about running ranks.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_RUNTIME_COMM_RUN_RANK_H
#define MESHPLAN_RUNTIME_COMM_RUN_RANK_H

#include "runtime/comm/communicator.h"

#include <functional>

namespace meshplan {

/// What one rank does.
using RankBody = std::function<Status(World &)>;

struct RankOptions {
  /// Limit of every wait that states none.
  std::chrono::milliseconds timeout = std::chrono::seconds(600);

  /// Called on the thread of a rank whose body has failed, before the backend
  /// waits for the other ranks: a launcher may not be that patient.
  std::function<void(int64_t rank, const Status &failure)> onFailure;

  /// Called when the run has failed and these ranks of this process have still
  /// not returned `timeout` later: they are stuck in their own code, and a
  /// thread cannot be ended from outside. A program reports and exits; without
  /// it, the backend goes on waiting.
  std::function<void(const Status &cause, std::span<const int64_t> ranks)> onStuck;
};

/// Calls `body`; an exception becomes a failure. A failure is told to onFailure and ends the other ranks.
Status runRank(World &world, const RankOptions &options, const RankBody &body);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_COMM_RUN_RANK_H
