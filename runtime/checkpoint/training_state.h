//===- training_state.h - training state besides tensors --------*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_CHECKPOINT_TRAINING_STATE_H
#define MESHPLAN_RUNTIME_CHECKPOINT_TRAINING_STATE_H

#include "runtime/exec/numbers/step_guard.h"

#include <set>
#include <string>
#include <utility>
#include <vector>

namespace meshplan {

/// What a resumed training needs to know besides its tensors. The same on all ranks.
struct TrainingState {
  StepCounters counters;

  int64_t samplesConsumed = 0;                          ///< of the data set, by all ranks together, over all epochs
  int64_t samples = 0;                                  ///< in the data set
  std::string dataFingerprint;                          ///< of the data set; empty: there is none
  int64_t seed = 0;                                     ///< of the order of the samples
  std::vector<std::pair<std::string, double>> settings; ///< given with --set
  std::string weights; ///< the initial weights, a file or folder; empty: random initial weights

  /// Parameters, by first name, whose optimizer states began after this many effective steps; before, they were frozen.
  /// The optimizer counts their steps from there.
  std::vector<std::pair<std::string, int64_t>> begun = {};

  /// All names of the parameters in the checkpoint that this training resumed from, if it began with weights of a file.
  /// Those that are frozen now may differ from the initial weights, so they are saved too.
  std::set<std::string> saved = {};

  bool operator==(const TrainingState &) const = default;
};

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_CHECKPOINT_TRAINING_STATE_H
