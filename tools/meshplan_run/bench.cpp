//===- bench.cpp - meshplan-run bench -------------------------------------===//

#include "tools/meshplan_run/options.h"
#include "tools/meshplan_run/ranks.h"

#include <algorithm>
#include <cstdio>
#include <iostream>

using namespace meshplan;

namespace {

using Clock = std::chrono::steady_clock;

Status passBarrier(Group &group) {
  MESHPLAN_ASSIGN_OR_RETURN(Pending barrier, group.startBarrier());
  return barrier->wait();
}

/// Seconds of each step from one barrier of all ranks to the next. The first step, which warms up, is left out.
Status measure(World &world, Executor &executor, int64_t steps, Trace *trace, std::vector<double> &seconds) {
  std::vector<int64_t> all(world.size());
  for (int64_t rank = 0; rank < world.size(); ++rank)
    all[rank] = rank;
  MESHPLAN_ASSIGN_OR_RETURN(auto group, world.createGroup(all, "world"));
  for (int64_t step = 0; step <= steps; ++step) {
    MESHPLAN_RETURN_IF_ERROR(passBarrier(*group));
    Clock::time_point begin = Clock::now();
    MESHPLAN_RETURN_IF_ERROR(executor.run(step == steps ? trace : nullptr));
    MESHPLAN_RETURN_IF_ERROR(passBarrier(*group));
    if (step > 0)
      seconds.push_back(std::chrono::duration<double>(Clock::now() - begin).count());
  }
  return Status();
}

double medianOf(std::vector<double> sorted) {
  size_t middle = sorted.size() / 2;
  return sorted.size() % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

Status bench(const RunOptions &options) {
  MESHPLAN_ASSIGN_OR_RETURN(Job job, Job::load(options));
  MESHPLAN_ASSIGN_OR_RETURN(RankFeeds feeds, RankFeeds::open(options));
  std::vector<std::vector<double>> secondsOfRanks(job.worldSize());
  std::vector<Trace> traces(job.worldSize());
  auto body = [&](World &world, Executor &executor, int64_t rank) {
    return measure(world, executor, options.steps, options.trace.empty() ? nullptr : &traces[rank],
                   secondsOfRanks[rank]);
  };
  MESHPLAN_ASSIGN_OR_RETURN(std::vector<RankMemory> memory, runRanks(options, job, feeds, body, [] {}));
  if (!options.trace.empty())
    MESHPLAN_RETURN_IF_ERROR(writeTraces(options.trace, traces));
  std::vector<double> seconds = secondsOfRanks[0];
  std::ranges::sort(seconds);
  if (options.json) {
    nlohmann::json step = {{"median", medianOf(seconds)}, {"min", seconds.front()}, {"max", seconds.back()}};
    nlohmann::json result = {{"program", options.program}, {"steps", options.steps}, {"step_seconds", step}};
    result["memory"] = memoryJson(job, memory);
    std::cout << result.dump(2) << std::endl;
    return Status();
  }
  printMemory(job, memory);
  std::printf("step: median %.6f s, min %.6f s, max %.6f s over %lld steps\n", medianOf(seconds), seconds.front(),
              seconds.back(), static_cast<long long>(options.steps));
  return Status();
}

} // namespace

int meshplan::runBench(const RunOptions &options) {
  Status status = bench(options);
  return status.ok() ? 0 : reportError(status);
}
