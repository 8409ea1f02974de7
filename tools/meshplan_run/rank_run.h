//===- rank_run.h - one rank with its settings and its report ----*- C++ -*-===//

#ifndef MESHPLAN_TOOLS_MESHPLAN_RUN_RANK_RUN_H
#define MESHPLAN_TOOLS_MESHPLAN_RUN_RANK_RUN_H

#include "tools/meshplan_run/job.h"
#include "tools/meshplan_run/ranks.h"
#include "tools/meshplan_run/reports.h"

namespace meshplan {

class MemoryPool;

/// A rank that is ready to load and run.
class RankRun {
public:
  RankRun(World &world, Executor &executor, const MemoryPool &pool, bool traces)
      : world(world), executor(executor), pool(pool), traces(traces) {}

  World &world;
  Executor &executor;

  Status load(const RankFeeds &feeds);

  /// Where the executor notes what it does; null without --trace.
  Trace *trace() { return traces ? &ownTrace : nullptr; }

  /// All ranks call it. `reports` is filled for rank 0 only.
  Status gather(Reports &reports);

private:
  const MemoryPool &pool;
  bool traces;
  Trace ownTrace;
};

/// Runs `body` on every rank of this process.
Status runRanks(const RunOptions &options, const Job &job, Ranks &ranks, const std::function<Status(RankRun &)> &body);

} // namespace meshplan

#endif // MESHPLAN_TOOLS_MESHPLAN_RUN_RANK_RUN_H
