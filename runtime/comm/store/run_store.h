//===- run_store.h - ranks that share a store -------------------*- C++ -*-===//
//
// One rank per process or thread; all of them reach the same store. Sums are added in the same order as by `threads`.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_RUNTIME_COMM_STORE_RUN_STORE_H
#define MESHPLAN_RUNTIME_COMM_STORE_RUN_STORE_H

#include "runtime/comm/run_rank.h"
#include "runtime/comm/store/key_value_store.h"

namespace meshplan {

struct StoreMember {
  std::string run; ///< prefix of this run's keys; unique in the store
  int64_t rank = 0, size = 1;
  bool isHost = false; ///< this process hosts the store, which ends with it

  /// Polled by the watcher thread: a reason from outside to end the run, or ok.
  std::function<Status()> interruption;
};

/// Runs `body` on the calling thread and returns its result. After a failure it returns when all ranks have heard of
/// it, or after 2 s, because a launcher may kill the other ranks at the first exit status, before they have reported.
/// The host of the store waits for all ranks.
Status runStore(KeyValueStore &store, const StoreMember &member, const RankOptions &options, const RankBody &body);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_COMM_STORE_RUN_STORE_H
