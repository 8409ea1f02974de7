//===- bench.cpp - meshplan-run bench -------------------------------------===//

#include "tools/meshplan_run/rank_run.h"

#include <algorithm>
#include <cstdio>
#include <iostream>

using namespace meshplan;

namespace {

using Clock = std::chrono::steady_clock;

/// Seconds of each step from one barrier of all ranks to the next. The first step, which warms up, is left out.
Status measure(RankRun &run, int64_t steps, std::vector<double> &seconds) {
  MESHPLAN_ASSIGN_OR_RETURN(auto group, run.world.host().createWorldGroup("world"));
  for (int64_t step = 0; step <= steps; ++step) {
    MESHPLAN_RETURN_IF_ERROR(waitFor(group->startBarrier()));
    Clock::time_point begin = Clock::now();
    MESHPLAN_RETURN_IF_ERROR(run.executor.run(step == steps ? run.trace() : nullptr));
    MESHPLAN_RETURN_IF_ERROR(waitFor(group->startBarrier()));
    if (step > 0)
      seconds.push_back(std::chrono::duration<double>(Clock::now() - begin).count());
  }
  return Status();
}

double medianOf(std::vector<double> sorted) {
  size_t middle = sorted.size() / 2;
  return sorted.size() % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

Status report(const RunOptions &options, const Job &job, const Reports &reports, std::vector<double> seconds) {
  if (!options.trace.empty())
    MESHPLAN_RETURN_IF_ERROR(writeTraces(options.trace, reports.traces));
  std::ranges::sort(seconds);
  if (options.json) {
    nlohmann::json step = {{"median", medianOf(seconds)}, {"min", seconds.front()}, {"max", seconds.back()}};
    nlohmann::json result = {{"program", options.program}, {"steps", options.steps}, {"step_seconds", step}};
    result["memory"] = memoryJson(job, reports);
    std::cout << result.dump(2) << "\n";
    return Status();
  }
  printMemory(job, reports);
  std::printf("step: median %.6f s, min %.6f s, max %.6f s over %lld steps\n", medianOf(seconds), seconds.front(),
              seconds.back(), static_cast<long long>(options.steps));
  return Status();
}

Status bench(const RunOptions &options, const Job &job, Ranks &ranks) {
  MESHPLAN_ASSIGN_OR_RETURN(RankFeeds feeds, RankFeeds::open(options, job));
  std::vector<double> secondsOfFirst;
  Reports reports;
  auto body = [&](RankRun &run) -> Status {
    std::vector<double> seconds;
    MESHPLAN_RETURN_IF_ERROR(run.load(feeds));
    MESHPLAN_RETURN_IF_ERROR(measure(run, options.steps, seconds));
    if (run.world.rank() == 0)
      secondsOfFirst = std::move(seconds);
    return run.gather(reports);
  };
  MESHPLAN_RETURN_IF_ERROR(runRanks(options, job, ranks, body));
  return reports.here() ? report(options, job, reports, std::move(secondsOfFirst)) : Status();
}

} // namespace

int meshplan::runBench(const RunOptions &options) {
  return runJob(options, [&](const Job &job, Ranks &ranks) { return bench(options, job, ranks); });
}
