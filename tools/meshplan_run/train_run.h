//===- train_run.h - shared inputs of a training's ranks ---------*- C++ -*-===//

#ifndef MESHPLAN_TOOLS_MESHPLAN_RUN_TRAIN_RUN_H
#define MESHPLAN_TOOLS_MESHPLAN_RUN_TRAIN_RUN_H

#include "runtime/dataset/dataset.h"
#include "tools/meshplan_run/job.h"

namespace meshplan {

/// Opened once for all ranks of a process.
struct TrainInputs {
  using Numbers = std::vector<std::pair<std::string, double>>;

  std::unique_ptr<Feed> weights; ///< of a new training: a file, or the distributions of the plan's `init`
  std::string weightsWarning;    ///< about the file, see AdapterFeed
  std::string recordedWeights;   ///< the file, if checkpoints may lack frozen parameters; else empty
  std::string checkpoint;        ///< the checkpoint that a training continues from; empty for a new one
  std::shared_ptr<const Dataset> data, evaluationData; ///< the latter is null for none
  int64_t seed = 0;

  /// `invalid` for a program that does not train, for missing weights, and for files that the run both reads and
  /// writes; also errors of Dataset::open and findCheckpoint.
  static Expected<TrainInputs> open(const RunOptions &options, const Job &job);
};

/// Settings that were given with --set in the previous run and that apply to the continued one.
struct CarriedSettings {
  TrainInputs::Numbers numbers;
  std::vector<std::string> notes; ///< for the user: settings that replace the plan's, and those that are dropped
};

/// The settings of `saved` that the command line does not give again and that the program has. A dynamic loss scale
/// continues with its last value.
Expected<CarriedSettings> carriedSettings(const TrainInputs::Numbers &saved, const TrainInputs::Numbers &given,
                                          const artifact::Program &program);

/// The folder for the last collectives of a failed run: that of the checkpoints, else that of the log, else the current
/// one.
std::string failureFolder(const RunOptions &options);

} // namespace meshplan

#endif // MESHPLAN_TOOLS_MESHPLAN_RUN_TRAIN_RUN_H
