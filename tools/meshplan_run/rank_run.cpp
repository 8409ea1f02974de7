//===- rank_run.cpp - one rank with its settings and its report -----------===//

#include "tools/meshplan_run/rank_run.h"

#include "runtime/comm/gather.h"
#include "runtime/tensor/compute_scope.h"
#include "runtime/tensor/memory.h"

using namespace meshplan;

Status RankRun::load(const RankFeeds &feeds) {
  MESHPLAN_RETURN_IF_ERROR(executor.loadParameters(*feeds.parameters));
  return executor.loadInputs(*feeds.inputs);
}

Status RankRun::gather(Reports &reports) {
  RankReport own{{executor.residentBytes(), pool.peak()}, std::move(ownTrace)};
  // The ranks leave the barrier together, which tells how far the clocks of machines are apart.
  MESHPLAN_ASSIGN_OR_RETURN(auto group, world.createWorldGroup("world"));
  MESHPLAN_RETURN_IF_ERROR(waitFor(group->startBarrier({.sequence = -1, .origin = "the end of the run"})));
  own.clock = readClock();
  MESHPLAN_ASSIGN_OR_RETURN(std::vector<std::string> texts, gatherAtFirst(world, textOf(own)));
  for (const std::string &text : texts) {
    MESHPLAN_ASSIGN_OR_RETURN(RankReport report, reportOf(text));
    reports.add(std::move(report));
  }
  return Status();
}

Status meshplan::runRanks(const RunOptions &options, const Job &job, Ranks &ranks,
                          const std::function<Status(RankRun &)> &body) {
  installPoolAllocator();
  int64_t worldSize = job.worldSize();
  return ranks.run(worldSize, [&](World &world) -> Status {
    // The traces are written at the end; a path that cannot be written fails now.
    if (world.rank() == 0 && !options.trace.empty())
      MESHPLAN_RETURN_IF_ERROR(AtomicFile::create(options.trace).status());
    auto pool = std::make_shared<MemoryPool>();
    PoolScope pooled(pool);
    ComputeScope compute(ranks.computeThreads(worldSize));
    MESHPLAN_ASSIGN_OR_RETURN(auto executor, Executor::create(job.artifact, *job.program, world));
    RankRun run(world, *executor, *pool, !options.trace.empty());
    return body(run);
  });
}
