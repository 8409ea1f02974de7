//===- training_state.h - what a training is besides tensors -----*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_CHECKPOINT_TRAINING_STATE_H
#define MESHPLAN_RUNTIME_CHECKPOINT_TRAINING_STATE_H

#include "runtime/exec/numbers/step_guard.h"

#include <set>
#include <string>
#include <utility>
#include <vector>

namespace meshplan {

/// The same on all ranks. What a training that goes on needs to know, and does not find in its tensors.
struct TrainingState {
  StepCounters counters;

  int64_t samplesConsumed = 0;                          ///< of the data set, by all ranks together, epochs included
  int64_t samples = 0;                                  ///< in the data set
  std::string dataFingerprint;                          ///< of the data set; empty: there is none
  int64_t seed = 0;                                     ///< of the order of the samples
  std::vector<std::pair<std::string, double>> settings; ///< given with --set
  std::string weights; ///< the file or folder that the training began with; empty: weights were drawn

  /// Parameters, by their first name, whose states began behind so many steps that had changed something: they were
  /// frozen before. The optimizer counts their steps from there.
  std::vector<std::pair<std::string, int64_t>> begun = {};

  /// All names of the parameters that were in the checkpoint from which this training went on, where it began with
  /// weights of a file: what of them is frozen now need not be as it is there.
  std::set<std::string> saved = {};

  bool operator==(const TrainingState &) const = default;
};

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_CHECKPOINT_TRAINING_STATE_H
