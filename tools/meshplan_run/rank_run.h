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
  /// `peak` gives the bytes that the rank's tensors have had at most.
  RankRun(World &world, ProgramRunner &program, std::function<PeakBytes()> peak, bool traces)
      : world(world), program(program), peak(std::move(peak)), traces(traces) {}

  World &world;
  ProgramRunner &program;

  Status load(const RankFeeds &feeds);

  /// Says what a person should know of the parameters that were loaded: of the whole file rank 0, of its part each.
  void warnOfWeights(const std::string &ofFile) const;

  /// Where the program notes what it does; null without --trace.
  Trace *trace() { return traces ? &ownTrace : nullptr; }

  /// The most bytes that its tensors have had so far.
  PeakBytes peakBytes() const { return peak(); }

  /// All ranks call it. `reports` is filled for rank 0 only.
  Status gather(Reports &reports);

private:
  std::function<PeakBytes()> peak;
  bool traces;
  Trace ownTrace;
};

/// Loads the schedule, finds out how this process was started, runs `command`, and prints an error. Returns the exit
/// status.
int runJob(const RunOptions &options, const std::function<Status(const Job &, Ranks &)> &command);

/// Runs `body` on every rank of this process.
Status runRanks(const RunOptions &options, const Job &job, Ranks &ranks, const std::function<Status(RankRun &)> &body);

} // namespace meshplan

#endif // MESHPLAN_TOOLS_MESHPLAN_RUN_RANK_RUN_H
