//===- store_ranks.cpp - one rank of several that meet at a store ---------===//

#include "runtime/base/ending_signal.h"
#include "runtime/comm/store/run_store.h"
#include "runtime/launch/placement.h"
#include "runtime/rendezvous/tcp_store.h"
#include "tools/meshplan_run/ranks/process_rank.h"

using namespace meshplan;

int meshplan::runStoreRank(const RunOptions &options, const Placement &placement, const MeetingPoint &meeting,
                           const Command &command) {
  holdEndingSignal();
  bool serves = !meeting.isServed && placement.rank == 0;
  auto store = openTcpStore({meeting.host, meeting.port}, serves, timeoutOf(options));
  if (!store)
    return reportError(withRank(store.status(), placement.rank));
  StoreMember member{.run = meeting.run, .rank = placement.rank, .size = placement.size.value_or(1), .isHost = serves};
  member.interruption = [rank = placement.rank] { return takeEndingSignal(rank); };
  ProcessRank rank({member.rank, member.size, placement.localRank, placement.localSize.value_or(1)},
                   timeoutOf(options));
  auto runner = [&](const RankOptions &rankOptions, const RankBody &body) {
    return runStore(**store, member, rankOptions, body);
  };
  return rank.runAll(runner, command);
}
