//===- load.h - going on from a checkpoint -----------------------*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_CHECKPOINT_LOAD_H
#define MESHPLAN_RUNTIME_CHECKPOINT_LOAD_H

#include "runtime/checkpoint/training_state.h"
#include "runtime/exec/program_runner.h"

namespace meshplan {

struct LoadedCheckpoint {
  std::string path; ///< of the checkpoint
  TrainingState state;
  std::vector<std::string> notes; ///< what is converted or left aside, for a person; the same on all ranks
};

/// All ranks call it. Reads the rank's slices of parameters and states, instead of ProgramRunner::loadParameters, and
/// sets the runner's counters; the checkpoint may be of another plan of the same model. `path` is a checkpoint or a
/// folder of them, of which the last one is taken. `weights` replaces the weights that the checkpoint needs where it
/// did not save what is not trained; empty: those that it names. The settings of the state are not given to the runner.
///
/// notFound: there is no checkpoint. invalid: it is of another model or optimizer, or does not fit the weights.
/// corrupted: a file of it is damaged, which one rank says; see withLastWhole. Nothing is trained with then.
Expected<LoadedCheckpoint> loadCheckpoint(World &world, ProgramRunner &runner, const std::string &path,
                                          const std::string &weights = "");

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_CHECKPOINT_LOAD_H
