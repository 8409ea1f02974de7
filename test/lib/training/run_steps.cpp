//===- run_steps.cpp - training steps one after the other -----------------===//
//
// See README.md.
//
//===----------------------------------------------------------------------===//

#include "runtime/artifact/artifact.h"
#include "runtime/artifact/sharding.h"
#include "runtime/comm/threads/run_threads.h"
#include "runtime/exec/executor.h"
#include "runtime/exec/shared_output.h"
#include "runtime/tensor/compute_scope.h"
#include "runtime/tensor/memory.h"

#include <cinttypes>
#include <cstdio>

using namespace meshplan;

namespace {

Expected<std::unique_ptr<Feed>> openFeed(const std::string &path) {
  MESHPLAN_ASSIGN_OR_RETURN(TensorSource source, TensorSource::open(path));
  return std::unique_ptr<Feed>(std::make_unique<FileFeed>(std::move(source)));
}

std::vector<TensorSpec> resultSpecs(const artifact::Program &program, size_t steps) {
  std::vector<TensorSpec> specs = heldSpecs(program);
  for (size_t step = 0; step < steps; ++step)
    for (TensorSpec spec : outputSpecs(program)) {
      spec.name = "step" + std::to_string(step) + "." + spec.name;
      specs.push_back(std::move(spec));
    }
  return specs;
}

struct Files {
  std::string result;
  std::unique_ptr<Feed> weights;
  std::vector<std::unique_ptr<Feed>> inputs;
};

Status trainRank(const Artifact &artifact, const artifact::Program &program, const Files &files, World &world) {
  auto pool = std::make_shared<MemoryPool>();
  PoolScope pooled(pool);
  ComputeScope compute(1, Device());
  MESHPLAN_ASSIGN_OR_RETURN(auto executor, Executor::create(artifact, program, world));
  MESHPLAN_ASSIGN_OR_RETURN(SharedOutput output,
                            SharedOutput::open(world, files.result, resultSpecs(program, files.inputs.size())));
  MESHPLAN_RETURN_IF_ERROR(executor->loadParameters(*files.weights));
  for (size_t step = 0; step < files.inputs.size(); ++step) {
    MESHPLAN_RETURN_IF_ERROR(executor->loadInputs(*files.inputs[step]));
    MESHPLAN_RETURN_IF_ERROR(executor->run());
    MESHPLAN_RETURN_IF_ERROR(executor->writeOutputs(output.writer(), "step" + std::to_string(step) + "."));
  }
  int64_t trained = pool->peak();
  MESHPLAN_RETURN_IF_ERROR(executor->writeHeld(output.writer()));
  int64_t planned = program.memory() ? program.memory()->peak() : 0;
  std::printf("rank %" PRId64 ": peak %" PRId64 " planned %" PRId64 "\n", static_cast<int64_t>(world.rank()), trained,
              planned);
  return output.commit();
}

Status run(int count, char **words) {
  installPoolAllocator();
  MESHPLAN_ASSIGN_OR_RETURN(Artifact artifact, loadSchedule(words[1]));
  MESHPLAN_ASSIGN_OR_RETURN(const artifact::Program *program, findProgram(artifact.schedule(), "step"));
  Files files{words[3], nullptr, {}};
  MESHPLAN_ASSIGN_OR_RETURN(files.weights, openFeed(words[2]));
  for (int index = 4; index < count; ++index) {
    MESHPLAN_ASSIGN_OR_RETURN(auto feed, openFeed(words[index]));
    files.inputs.push_back(std::move(feed));
  }
  int64_t ranks = worldSizeOf(meshSizesOf(artifact.schedule(), *program));
  for (const Status &status :
       runThreads(ranks, {}, [&](World &world) { return trainRank(artifact, *program, files, world); }))
    MESHPLAN_RETURN_IF_ERROR(status);
  return Status();
}

} // namespace

int main(int count, char **words) {
  if (count < 5) {
    std::fprintf(stderr, "usage: run-steps FILE.sched WEIGHTS RESULT INPUTS...\n");
    return 2;
  }
  Status status = run(count, words);
  if (!status.ok())
    std::fprintf(stderr, "run-steps: error: %s\n", status.message().c_str());
  return status.ok() ? 0 : 1;
}
