//===- ranks.h - the ranks of a run as threads -------------------*- C++ -*-===//
//
// What all subcommands share: loads the schedule, starts its ranks with their
// settings, and reports what they held.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_TOOLS_MESHPLAN_RUN_RANKS_H
#define MESHPLAN_TOOLS_MESHPLAN_RUN_RANKS_H

#include "runtime/exec/executor.h"
#include "tools/meshplan_run/options.h"

#include <functional>
#include <nlohmann/json.hpp>

namespace meshplan {

/// A loaded schedule and the program that is run.
struct Job {
  Artifact artifact;
  const artifact::Program *program;

  static Expected<Job> load(const RunOptions &options);
  int64_t worldSize() const { return worldSizeOf(meshSizesOf(artifact.schedule(), *program)); }
};

/// What one rank held, in bytes.
struct RankMemory {
  ResidentBytes resident;
  int64_t peak = 0;
};

/// What one rank does with its executor, whose parameters and inputs are loaded.
using ExecutorBody = std::function<Status(World &, Executor &, int64_t rank)>;

struct RankFeeds {
  std::unique_ptr<Feed> parameters, inputs;

  /// Files where they are given, else made-up values.
  static Expected<RankFeeds> open(const RunOptions &options);
};

/// Runs `body` on every rank and returns what each held. `onStuck` is called
/// before the process ends because a rank hangs in an operator.
Expected<std::vector<RankMemory>> runRanks(const RunOptions &options, const Job &job, const RankFeeds &feeds,
                                           const ExecutorBody &body, const std::function<void()> &onStuck);

/// Prints "error: ..." and returns the exit status of a run that went wrong.
int reportError(const Status &status);

/// Ranks and plan: parameters, constants, inputs and peak in bytes.
nlohmann::json memoryJson(const Job &job, std::span<const RankMemory> ranks);

/// A line for each rank, and one that compares the largest with what the compiler planned.
void printMemory(const Job &job, std::span<const RankMemory> ranks);

} // namespace meshplan

#endif // MESHPLAN_TOOLS_MESHPLAN_RUN_RANKS_H
