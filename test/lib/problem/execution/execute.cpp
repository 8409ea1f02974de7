//===- execute.cpp - lists of steps on the backend `threads` --------------===//

#include "test/lib/problem/execution/execute.h"

#include "runtime/comm/threads/run_threads.h"
#include "test/lib/problem/execution/rank_walk.h"
#include <atomic>

using namespace meshplan;
using namespace meshplan::scheduling;

int64_t meshplan::scheduling::ranksOf(llvm::ArrayRef<Coordinate> coordinates) {
  return Execution(coordinates, 0).size();
}

Status meshplan::scheduling::execute(llvm::ArrayRef<Coordinate> coordinates, const ExecutionOptions &options) {
  Execution execution(coordinates, options.seed);
  // Each delay of a progress thread is one of a new stream, because several of them may ask at the same time. The ranks
  // have the first streams: two each.
  std::atomic<uint64_t> streams = 2 * static_cast<uint64_t>(execution.size());
  RankOptions ranks{.timeout = options.timeout,
                    .onFailure = nullptr,
                    .onStuck = nullptr,
                    .beforeProgress = [&] { Delays(options.seed, streams++).pass(); },
                    .checksOrder = options.checksOrder};
  return rootCause(runThreads(execution.size(), ranks, [&](World &world) {
    DelayedWorld delayed(world, options.seed);
    auto stream = static_cast<uint64_t>(execution.size() + world.rank());
    return RankWalk(execution, delayed, Delays(options.seed, stream)).run();
  }));
}
