//===- rank_run.h - one rank with its settings and its report ----*- C++ -*-===//

#ifndef MESHPLAN_TOOLS_MESHPLAN_RUN_RANK_RUN_H
#define MESHPLAN_TOOLS_MESHPLAN_RUN_RANK_RUN_H

#include "tools/meshplan_run/job.h"
#include "tools/meshplan_run/ranks/ranks.h"
#include "tools/meshplan_run/reports.h"

namespace meshplan {

/// A rank that is ready to load and run.
class RankRun {
public:
  /// `peak` returns the peak memory of the rank's tensors so far.
  RankRun(World &world, ProgramRunner &program, std::function<PeakBytes()> peak, bool traces)
      : world(world), program(program), peak(std::move(peak)), traces(traces) {}

  World &world;
  ProgramRunner &program;

  Status load(const RankFeeds &feeds);

  /// Prints warnings about loaded parameters: rank 0 about the whole file, each rank about its shards.
  void warnOfWeights(const std::string &ofFile) const;

  /// The trace that the program records to; null without --trace.
  Trace *trace() { return traces ? &ownTrace : nullptr; }

  /// Peak memory of its tensors so far.
  PeakBytes peakBytes() const { return peak(); }

  /// A collective: all ranks call it. `reports` is filled on rank 0 only.
  Status gather(Reports &reports);

private:
  std::function<PeakBytes()> peak;
  bool traces;
  Trace ownTrace;
};

/// Loads the schedule, determines how this process was started, runs `command`, and prints an error. Returns the exit
/// status.
int runJob(const RunOptions &options, const std::function<Status(const Job &, Ranks &)> &command);

/// What the ranks of a run compute on, and the file that rank 0 writes at the end.
struct RunOnDevices {
  int64_t ranks = 1;
  bool isCuda = false;    ///< each rank has a GPU
  bool needsNccl = false; ///< and their tensors move between them
  std::string output;     ///< empty: none. A path that cannot be written fails before anything is computed
  /// Called by each rank before it looks for its GPU, so that errors of all ranks are reported before those of one
  /// rank. May be null.
  std::function<Status(World &hosts)> beforeGpus;

  /// Runs `body` for each rank of this process, on its device, with threads to compute with and memory that is counted.
  /// `peak` returns the peak memory of the rank's tensors so far.
  Status run(Ranks &here,
             const std::function<Status(World &world, const std::function<PeakBytes()> &peak)> &body) const;
};

/// Runs `body` on every rank of this process.
Status runRanks(const RunOptions &options, const Job &job, Ranks &ranks, const std::function<Status(RankRun &)> &body);

} // namespace meshplan

#endif // MESHPLAN_TOOLS_MESHPLAN_RUN_RANK_RUN_H
