//===- run_store.h - ranks that share a store --------------------*- C++ -*-===//
//
// One rank in each process, or thread, all of which reach one store. Sums are
// added in the same order as by `threads`.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_RUNTIME_COMM_STORE_RUN_STORE_H
#define MESHPLAN_RUNTIME_COMM_STORE_RUN_STORE_H

#include "runtime/comm/run_rank.h"
#include "runtime/comm/store/key_value_store.h"

namespace meshplan {

struct StorePlace {
  std::string run; ///< begins the keys of this run; no other run of this store may have it
  int64_t rank = 0, size = 1;
  bool isHost = false; ///< the store lives in this process and ends with it

  /// Polled by a thread beside the rank: a reason to end the run from outside of it, or ok.
  std::function<Status()> interruption;
};

/// Runs `body` on the calling thread and returns what it returned. After a failure it returns when all ranks have
/// heard of it, or after 2 s, so that a launcher which ends the other ranks on the first exit status does not keep
/// them from reporting. The host returns when all ranks have.
Status runStore(KeyValueStore &store, const StorePlace &place, const RankOptions &options, const RankBody &body);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_COMM_STORE_RUN_STORE_H
