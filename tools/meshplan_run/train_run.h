//===- train_run.h - what the ranks of a training share ----------*- C++ -*-===//

#ifndef MESHPLAN_TOOLS_MESHPLAN_RUN_TRAIN_RUN_H
#define MESHPLAN_TOOLS_MESHPLAN_RUN_TRAIN_RUN_H

#include "runtime/dataset/dataset.h"
#include "tools/meshplan_run/job.h"

namespace meshplan {

/// Opened once for all ranks of a process.
struct TrainInputs {
  using Numbers = std::vector<std::pair<std::string, double>>;

  std::unique_ptr<Feed> weights; ///< of a training that begins: a file, or what the plan's `init` draws
  std::string weightsWarning;    ///< of the file, see AdapterFeed
  std::string recordedWeights;   ///< the file, if a checkpoint may lack what is not trained; else empty
  std::string checkpoint;        ///< that a training goes on from; empty: it begins
  std::shared_ptr<const Dataset> data, evaluationData; ///< the latter null for none
  int64_t seed = 0;

  /// `invalid` for a program that does not train, for weights that nobody gives, and for files that the run reads and
  /// writes; what Dataset::open and findCheckpoint say.
  static Expected<TrainInputs> open(const RunOptions &options, const Job &job);
};

/// The settings that the run before was given with --set and that hold for the one that goes on.
struct CarriedSettings {
  TrainInputs::Numbers numbers;
  std::vector<std::string> notes; ///< for a person: what holds in the place of the plan's, and what does not
};

/// Those of `saved` that the command line does not give again and that the program has. A scale of the loss that
/// changes is where the run before has left it.
Expected<CarriedSettings> carriedSettings(const TrainInputs::Numbers &saved, const TrainInputs::Numbers &given,
                                          const artifact::Program &program);

/// Where a run that ends badly leaves what its ranks did last: beside the checkpoints, else beside the log, else here.
std::string failureFolder(const RunOptions &options);

} // namespace meshplan

#endif // MESHPLAN_TOOLS_MESHPLAN_RUN_TRAIN_RUN_H
