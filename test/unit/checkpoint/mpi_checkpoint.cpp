//===- mpi_checkpoint.cpp - processes that write one checkpoint -----------===//

#include "runtime/checkpoint/load.h"
#include "runtime/comm/mpi/run_mpi.h"
#include "test/unit/checkpoint/small_training.h"

#include <cstdio>
#include <unistd.h>

using namespace meshplan;

/// Three steps, each of which is saved.
static Status save(World &world, ProgramRunner &runner, const std::string &folder) {
  MESHPLAN_RETURN_IF_ERROR(runner.loadParameters(OnesFeed()));
  MESHPLAN_ASSIGN_OR_RETURN(CheckpointWriter writer, CheckpointWriter::open(world, {.folder = folder, .keep = 2}));
  for (int step = 0; step < 3; ++step) {
    MESHPLAN_RETURN_IF_ERROR(runner.run());
    MESHPLAN_RETURN_IF_ERROR(writer.poll());
    MESHPLAN_RETURN_IF_ERROR(writer.start(runner, {}));
  }
  return writer.finish();
}

static Status checkSaved(const std::string &folder) {
  std::vector<double> expected(7, behindStep(3).parameter);
  bool isRight = listCheckpoints(folder)->size() == 2 &&
                 elementsOf(checkpointPath(folder, 3) + "/model.safetensors", "w") == expected;
  return isRight ? Status() : Status(StatusCode::corrupted, "other elements than three steps make");
}

int main() {
  auto process = MpiProcess::start();
  if (!process)
    return 1;
  // All processes have the same parent, whose id distinguishes the folders of several runs.
  auto folder = std::filesystem::temp_directory_path() / ("meshplan-checkpoint-" + std::to_string(::getppid()));
  Artifact artifact = scheduleOf({.ranks = 3});
  auto run = [&](const TrainingBody &body) {
    return (*process)->run({.timeout = std::chrono::seconds(60)},
                           [&](World &world) { return onRank(artifact, world, body); });
  };
  Status status = run([&](World &world, ProgramRunner &runner) -> Status {
    MESHPLAN_RETURN_IF_ERROR(save(world, runner, folder));
    MESHPLAN_RETURN_IF_ERROR(checkSaved(folder));
    MESHPLAN_ASSIGN_OR_RETURN(LoadedCheckpoint loaded, loadCheckpoint(world, runner, folder));
    return loaded.state.counters.steps == 3 ? Status() : Status(StatusCode::corrupted, "other steps");
  });
  std::error_code ignored;
  if ((*process)->rank() == 0)
    std::filesystem::remove_all(folder, ignored);
  std::printf("rank %d: %s\n", static_cast<int>((*process)->rank()), status.ok() ? "ok" : status.message().c_str());
  return status.ok() ? 0 : 1;
}
