//===- run_steps.cpp - training steps one after the other -----------------===//
//
// See README.md.
//
//===----------------------------------------------------------------------===//

#include "runtime/artifact/artifact.h"
#include "runtime/artifact/sharding.h"
#include "runtime/comm/threads/run_threads.h"
#include "runtime/exec/program_runner.h"
#include "runtime/exec/shared_output.h"
#include "runtime/tensor/compute_scope.h"
#include "runtime/tensor/memory.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

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
  std::vector<std::pair<std::string, double>> settings;
  std::string result;
  std::unique_ptr<Feed> weights;
  std::vector<std::unique_ptr<Feed>> inputs;
};

/// What a rank has metered, in bytes.
struct Metered {
  int64_t peak = 0, hostPeak = 0; ///< of its device and of the host
  int64_t kept = 0;               ///< on its device before the first batch: what lasts from step to step
};

/// What lasts from step to step of all programs that a step runs.
int64_t plannedToLast(const artifact::Schedule &schedule, const artifact::Memory &step) {
  int64_t bytes = step.parameters() + step.states() + step.accumulators() + step.constants();
  for (const artifact::Program *program : *schedule.programs())
    if (program->runs() > 0 && program->memory())
      bytes += program->memory()->constants();
  return bytes;
}

/// In one write, so that lines of ranks do not mix. The host has numbers where the plan leaves something there.
void printMemory(const RankView &place, const Metered &metered, const ResidentBytes &held, int64_t packed) {
  const artifact::Memory *planned = place.program().memory();
  std::string line = "rank " + std::to_string(place.rank());
  auto add = [&](const char *what, int64_t metered, int64_t expected) {
    line += std::string(what) + std::to_string(metered) + " planned " + std::to_string(expected);
  };
  add(": peak ", metered.peak, planned ? planned->peak() : 0);
  add(" kept ", metered.kept, planned ? plannedToLast(place.schedule(), *planned) : 0);
  if (planned && planned->host_peak() > 0) {
    add(" host ", metered.hostPeak, planned->host_peak());
    add(" parameters ", held.hostParameters, planned->host_parameters());
    add(" states ", held.hostStates, planned->host_states());
  }
  line += " constants " + std::to_string(held.constants) + " packed " + std::to_string(packed);
  std::printf("%s\n", line.c_str());
}

Status trainRank(const Artifact &artifact, const artifact::Program &program, const Files &files, World &world) {
  auto pool = std::make_shared<MemoryPool>(), host = std::make_shared<MemoryPool>();
  PoolScope pooled(pool, host);
  ComputeScope compute(1, Device());
  MESHPLAN_ASSIGN_OR_RETURN(ProgramRunner training, ProgramRunner::create(artifact, program, world));
  MESHPLAN_ASSIGN_OR_RETURN(SharedOutput output,
                            SharedOutput::open(world, files.result, resultSpecs(program, files.inputs.size())));
  for (const auto &[name, number] : files.settings)
    MESHPLAN_RETURN_IF_ERROR(training.setNumber(name, number));
  MESHPLAN_RETURN_IF_ERROR(training.loadParameters(*files.weights));
  if (!training.warning().empty())
    std::fprintf(stderr, "run-steps: warning: %s\n", training.warning().c_str());
  Metered metered{.kept = pool->current()};
  for (size_t step = 0; step < files.inputs.size(); ++step) {
    MESHPLAN_RETURN_IF_ERROR(training.loadInputs(*files.inputs[step]));
    MESHPLAN_RETURN_IF_ERROR(training.run());
    if (training.outcome().nonfinite > 0)
      std::printf("%s\n", training.describeOutcome().c_str());
    MESHPLAN_RETURN_IF_ERROR(training.executor().writeOutputs(output.writer(), "step" + std::to_string(step) + "."));
  }
  metered.peak = pool->peak();
  metered.hostPeak = host->peak();
  MESHPLAN_RETURN_IF_ERROR(training.executor().writeHeld(output.writer()));
  printMemory(training.executor().place(), metered, training.executor().residentBytes(), training.packedBytes());
  return output.commit();
}

/// Takes `--set NAME=NUMBER` from the front of the words.
std::vector<std::pair<std::string, double>> takeSettings(std::vector<std::string> &words) {
  std::vector<std::pair<std::string, double>> settings;
  while (words.size() > 1 && words.front() == "--set") {
    size_t equals = std::min(words[1].find('='), words[1].size() - 1);
    settings.emplace_back(words[1].substr(0, equals), std::atof(words[1].c_str() + equals + 1));
    words.erase(words.begin(), words.begin() + 2);
  }
  return settings;
}

Status run(std::vector<std::pair<std::string, double>> settings, const std::vector<std::string> &words) {
  installPoolAllocator();
  MESHPLAN_ASSIGN_OR_RETURN(Artifact artifact, loadSchedule(words[0]));
  MESHPLAN_ASSIGN_OR_RETURN(const artifact::Program *program, findProgram(artifact.schedule(), "step"));
  Files files{std::move(settings), words[2], nullptr, {}};
  MESHPLAN_ASSIGN_OR_RETURN(files.weights, openFeed(words[1]));
  for (size_t index = 3; index < words.size(); ++index) {
    MESHPLAN_ASSIGN_OR_RETURN(auto feed, openFeed(words[index]));
    files.inputs.push_back(std::move(feed));
  }
  int64_t ranks = worldSizeOf(meshSizesOf(artifact.schedule(), *program));
  return rootCause(runThreads(ranks, {}, [&](World &world) { return trainRank(artifact, *program, files, world); }));
}

} // namespace

int main(int count, char **arguments) {
  std::vector<std::string> words(arguments + 1, arguments + count);
  auto settings = takeSettings(words);
  if (words.size() < 4) {
    std::fprintf(stderr, "usage: run-steps [--set NAME=NUMBER]... FILE.sched WEIGHTS RESULT INPUTS...\n");
    return 2;
  }
  Status status = run(std::move(settings), words);
  if (!status.ok())
    std::fprintf(stderr, "run-steps: error: %s\n", status.message().c_str());
  return status.ok() ? 0 : 1;
}
