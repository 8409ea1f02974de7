//===- load.cpp - resuming from a checkpoint ------------------------------===//

#include "runtime/checkpoint/load.h"

#include "runtime/checkpoint/folder.h"
#include "runtime/checkpoint/source.h"
#include "runtime/comm/gather.h"

using namespace meshplan;

/// Ranks may see a shared folder at different times, so rank 0 chooses the checkpoint. A defect that all ranks would
/// find is reported by rank 0 alone.
static Expected<std::string> findTogether(World &world, std::string path, const std::string &weights,
                                          CheckpointParts parts, const artifact::Program &program) {
  if (world.rank() == 0) {
    MESHPLAN_ASSIGN_OR_RETURN(path, findCheckpoint(path));
    MESHPLAN_RETURN_IF_ERROR(CheckpointSource::open(path, weights, parts, &program).status());
  }
  MESHPLAN_RETURN_IF_ERROR(shareFromFirst(world, path, "looking for the checkpoint"));
  return path;
}

Expected<LoadedCheckpoint> meshplan::loadCheckpoint(World &world, ProgramRunner &runner, const std::string &path,
                                                    const std::string &weights) {
  LoadedCheckpoint loaded;
  const artifact::Program &program = runner.walk().view().program();
  bool hasStates = program.states() && program.states()->size() > 0;
  CheckpointParts parts = hasStates ? CheckpointParts::all : CheckpointParts::parameters;
  MESHPLAN_ASSIGN_OR_RETURN(loaded.path, findTogether(world, path, weights, parts, program));
  MESHPLAN_ASSIGN_OR_RETURN(CheckpointSource source, CheckpointSource::open(loaded.path, weights, parts, &program));
  MESHPLAN_ASSIGN_OR_RETURN(loaded.notes, checkCheckpoint(source, program));
  MESHPLAN_RETURN_IF_ERROR(runner.loadHeld(CheckpointFeed(source, program)));
  loaded.state = source.record().state;
  loaded.hasAllParameters = source.record().savesAll();
  // The optimizer's step counts belong to the parameters, so they are recomputed for this program's parameters.
  loaded.state.begun = begunParameters(source, program);
  // What a checkpoint has held is saved from now on: it may differ from the initial weights, which later checkpoints
  // would otherwise refer to.
  if (!loaded.state.weights.empty())
    for (const RecordedParameter &parameter : source.record().parameters)
      if (parameter.isSaved)
        loaded.state.saved.insert(parameter.names.begin(), parameter.names.end());
  for (const auto &[parameter, steps] : loaded.state.begun)
    runner.countFrom(parameter, steps);
  MESHPLAN_RETURN_IF_ERROR(runner.resume(loaded.state.counters).withContext(loaded.path + "/" + recordName));
  return loaded;
}
