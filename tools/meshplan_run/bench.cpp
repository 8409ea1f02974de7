//===- bench.cpp - meshplan-run bench -------------------------------------===//

#include "runtime/train/scalars.h"
#include "tools/meshplan_run/rank_run.h"

#include <algorithm>
#include <cstdio>
#include <iostream>

using namespace meshplan;

namespace {

using Clock = std::chrono::steady_clock;

/// The measured times, between barriers of all ranks, and the losses.
struct Seconds {
  double load = 0;
  std::vector<double> steps;  ///< without the first one, which warms up
  std::vector<double> losses; ///< of all steps including the first one, if the program has a loss
  int64_t packedBytes = 0;    ///< bytes that this rank copies in a step to coalesce tensors for collectives
};

/// Seconds that `work` takes on the slowest rank.
template <typename Work> Expected<double> timed(Group &group, Work work) {
  MESHPLAN_RETURN_IF_ERROR(waitFor(group.startBarrier()));
  Clock::time_point begin = Clock::now();
  MESHPLAN_RETURN_IF_ERROR(work());
  MESHPLAN_RETURN_IF_ERROR(waitFor(group.startBarrier()));
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

Status takeLoss(const Walk &walk, std::vector<double> &losses) {
  const flatbuffers::String *name = walk.view().program().loss();
  if (!name || !findOutput(walk.view().program(), name->string_view()))
    return Status();
  MESHPLAN_ASSIGN_OR_RETURN(double loss, scalarOutput(walk, name->string_view()));
  losses.push_back(loss);
  return Status();
}

Status measure(RankRun &run, const RankFeeds &feeds, int64_t steps, Seconds &seconds) {
  MESHPLAN_ASSIGN_OR_RETURN(auto group, run.world.host().createWorldGroup("world"));
  MESHPLAN_ASSIGN_OR_RETURN(seconds.load, timed(*group, [&] { return run.load(feeds); }));
  for (int64_t step = 0; step <= steps; ++step) {
    Trace *trace = step == steps ? run.trace() : nullptr;
    MESHPLAN_ASSIGN_OR_RETURN(double taken, timed(*group, [&] { return run.program.run(trace); }));
    if (step > 0)
      seconds.steps.push_back(taken);
    MESHPLAN_RETURN_IF_ERROR(takeLoss(run.program.walk(), seconds.losses));
  }
  seconds.packedBytes = run.program.packedBytes() / (steps + 1);
  return Status();
}

double medianOf(std::vector<double> sorted) {
  size_t middle = sorted.size() / 2;
  return sorted.size() % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

Status report(const RunOptions &options, const Job &job, const Reports &reports, Seconds seconds) {
  if (!options.trace.empty())
    MESHPLAN_RETURN_IF_ERROR(writeTraces(options.trace, reports.traces));
  std::vector<double> &steps = seconds.steps;
  std::ranges::sort(steps);
  if (options.json) {
    nlohmann::json step = {{"median", medianOf(steps)}, {"min", steps.front()}, {"max", steps.back()}};
    nlohmann::json result = {{"program", options.program}, {"steps", options.steps}, {"step_seconds", step}};
    result["load_seconds"] = seconds.load;
    if (!seconds.losses.empty())
      result["losses"] = seconds.losses;
    result["packed_bytes"] = seconds.packedBytes;
    result["memory"] = memoryJson(job, reports);
    std::cout << result.dump(2) << "\n";
    return Status();
  }
  printMemory(job, reports);
  std::printf("packed for collectives: %.2f MiB a step\n", static_cast<double>(seconds.packedBytes) / (1 << 20));
  std::printf("load: %.6f s\n", seconds.load);
  std::printf("program '%s': median %.6f s, min %.6f s, max %.6f s over %lld steps\n", options.program.c_str(),
              medianOf(steps), steps.front(), steps.back(), static_cast<long long>(options.steps));
  return Status();
}

Status bench(const RunOptions &options, const Job &job, Ranks &ranks) {
  MESHPLAN_ASSIGN_OR_RETURN(RankFeeds feeds, RankFeeds::open(options, job));
  Seconds secondsOfFirst;
  Reports reports;
  auto body = [&](RankRun &run) -> Status {
    Seconds seconds;
    MESHPLAN_RETURN_IF_ERROR(measure(run, feeds, options.steps, seconds));
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
