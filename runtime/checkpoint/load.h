//===- load.h - resuming from a checkpoint ----------------------*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_CHECKPOINT_LOAD_H
#define MESHPLAN_RUNTIME_CHECKPOINT_LOAD_H

#include "runtime/checkpoint/training_state.h"
#include "runtime/exec/program_runner.h"

namespace meshplan {

struct LoadedCheckpoint {
  std::string path; ///< of the checkpoint
  TrainingState state;
  bool hasAllParameters = true;   ///< none was read from the initial weights
  std::vector<std::string> notes; ///< what is converted or unused, for the user; the same on all ranks
};

/// Resumes from a checkpoint; a collective of all ranks. Reads the rank's shards of parameters and states instead of
/// ProgramRunner::loadParameters, and sets the runner's counters. `path` is a checkpoint, or a folder of them, of which
/// the last is taken. `weights` replaces the initial weights that the checkpoint refers to for parameters it did not
/// save; empty: not replaced. The settings in the state are not given to the runner.
///
/// The checkpoint may come from another plan of the same model. Files hold whole tensors, so resharding is reading:
/// each rank reads the ranges that its own sharding assigns to it. Example: a [8, 4] weight was saved by 2 ranks as
/// rows 0-3 and 4-7, into one tensor of the file. 4 ranks under `columns` of a new plan read column 0, 1, 2 and 3 of
/// that tensor.
///
/// notFound: there is no checkpoint. invalid: it is of another model or optimizer, or does not fit the weights.
/// corrupted: a file of it is damaged, which one rank reports; see withLastIntact. After a failure the runner must not
/// train.
Expected<LoadedCheckpoint> loadCheckpoint(World &world, ProgramRunner &runner, const std::string &path,
                                          const std::string &weights = "");

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_CHECKPOINT_LOAD_H
