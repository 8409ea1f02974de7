//===- store_ranks.cpp - one rank of several that meet at a store ---------===//

#include "runtime/base/ending_signal.h"
#include "runtime/comm/store/run_store.h"
#include "runtime/launch/placement.h"
#include "runtime/rendezvous/tcp_store.h"
#include "runtime/tensor/compute_scope.h"
#include "tools/meshplan_run/ranks.h"

using namespace meshplan;

namespace {

class StoreRanks final : public Ranks {
public:
  StoreRanks(KeyValueStore &store, StorePlace place, const Placement &placement, std::chrono::milliseconds timeout)
      : store(store), place(std::move(place)), placement(placement) {
    rankOptions.timeout = timeout;
    rankOptions.onFailure = [this](int64_t, const Status &failure) { report(failure); };
    rankOptions.onStuck = endStuck;
  }

  /// The whole command is the rank's body: whatever fails in it ends the other ranks. Returns the exit status.
  int runAll(const Command &command) {
    Status status = runStore(store, place, rankOptions, [&](World &ownWorld) {
      world = &ownWorld;
      return command(*this);
    });
    if (!status.ok() && !reported)
      report(status);
    return status.ok() ? 0 : 1;
  }

  Status run(int64_t worldSize, const RankBody &body) override {
    MESHPLAN_RETURN_IF_ERROR(checkProcessCount(place.size, worldSize));
    return body(*world);
  }
  int computeThreads(int64_t) const override {
    return threadsPerRank(1, static_cast<int>(placement.localSize.value_or(1)));
  }
  std::optional<int64_t> localRank(int64_t) const override { return placement.localRank; }

private:
  void report(const Status &failure) {
    reported = true;
    reportError(withRank(failure, place.rank));
  }

  KeyValueStore &store;
  StorePlace place;
  const Placement &placement;
  bool reported = false;
  RankOptions rankOptions;
  World *world = nullptr;
};

} // namespace

int meshplan::runStoreRank(const RunOptions &options, const Placement &placement, const MeetingPoint &meeting,
                           const Command &command) {
  holdEndingSignal();
  bool serves = !meeting.isServed && placement.rank == 0;
  auto store = openTcpStore({meeting.host, meeting.port}, serves, timeoutOf(options));
  if (!store)
    return reportError(withRank(store.status(), placement.rank));
  StorePlace place{.run = meeting.run, .rank = placement.rank, .size = placement.size.value_or(1), .isHost = serves};
  place.interruption = [rank = placement.rank] { return takeEndingSignal(rank); };
  StoreRanks ranks(**store, std::move(place), placement, timeoutOf(options));
  return ranks.runAll(command);
}
