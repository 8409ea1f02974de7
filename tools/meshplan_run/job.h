//===- job.h - what is run ---------------------------------------*- C++ -*-===//

#ifndef MESHPLAN_TOOLS_MESHPLAN_RUN_JOB_H
#define MESHPLAN_TOOLS_MESHPLAN_RUN_JOB_H

#include "runtime/exec/program_runner.h"
#include "tools/meshplan_run/options.h"

namespace meshplan {

/// A loaded schedule and the program that is run.
struct Job {
  Artifact artifact;
  const artifact::Program *program;
  std::vector<std::pair<std::string, double>> settings; ///< that the command line gives, all of the program's
  const artifact::Program *evaluation = nullptr;        ///< that runs between the steps of a training; null for none

  static Expected<Job> load(const RunOptions &options);
  int64_t worldSize() const { return worldSizeOf(meshSizesOf(artifact.schedule(), *program)); }
  bool isForCuda() const { return artifact.schedule().device()->string_view() == "cuda"; }

  /// Bytes of the largest rank on its device, by the plan; 0 where it does not say.
  int64_t plannedPeak() const;

  /// Ranks have tensors on devices of their own to move.
  bool needsNccl() const;

  /// The program has buffers that a backend may want to know of beforehand.
  bool registersBuffers() const;
};

/// `invalid` where the run writes a file that it reads, or one file twice, under any name.
Status checkWritten(const RunOptions &options, const std::vector<std::string> &read);

struct RankFeeds {
  std::unique_ptr<Feed> parameters, inputs;
  std::string warning; ///< of the weights, see AdapterFeed

  /// Files where they are given, else made-up values. `invalid` when the inputs have a tensor that the program does not
  /// take, or when a file that the run writes is one that it reads.
  static Expected<RankFeeds> open(const RunOptions &options, const Job &job);
};

} // namespace meshplan

#endif // MESHPLAN_TOOLS_MESHPLAN_RUN_JOB_H
