//===- job.h - a schedule and its program ------------------------*- C++ -*-===//

#ifndef MESHPLAN_TOOLS_MESHPLAN_RUN_JOB_H
#define MESHPLAN_TOOLS_MESHPLAN_RUN_JOB_H

#include "runtime/exec/program_runner.h"
#include "tools/meshplan_run/options.h"

namespace meshplan {

/// A loaded schedule and the program to run.
struct Job {
  Artifact artifact;
  const artifact::Program *program;
  std::vector<std::pair<std::string, double>> settings; ///< settings of the command line, all of which the program has
  const artifact::Program *evaluation = nullptr;        ///< runs between training steps; null for none

  static Expected<Job> load(const RunOptions &options);
  int64_t worldSize() const { return worldSizeOf(meshSizesOf(artifact.schedule(), *program)); }
  bool isForCuda() const { return artifact.schedule().device()->string_view() == "cuda"; }

  /// Planned peak memory in bytes of the largest rank on its device; 0 if the schedule has none.
  int64_t plannedPeak() const;

  /// True if there are several ranks with tensors on devices of their own.
  bool needsNccl() const;

  /// True if the program has buffers that a backend may register in advance.
  bool registersBuffers() const;
};

/// `invalid` if the run would write a file that it reads, or write one file twice, under any name.
Status checkWritten(const RunOptions &options, const std::vector<std::string> &read);

struct RankFeeds {
  std::unique_ptr<Feed> parameters, inputs;
  std::string warning; ///< about the weights, see AdapterFeed

  /// The given files, else random values. `invalid` if the inputs have a tensor that the program does not take, or if
  /// the run would write a file that it reads.
  static Expected<RankFeeds> open(const RunOptions &options, const Job &job);
};

} // namespace meshplan

#endif // MESHPLAN_TOOLS_MESHPLAN_RUN_JOB_H
