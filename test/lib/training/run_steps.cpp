//===- run_steps.cpp - consecutive training steps -------------------------===//
//
// See README.md.
//
//===----------------------------------------------------------------------===//

#include "runtime/artifact/artifact.h"
#include "runtime/artifact/sharding.h"
#include "runtime/artifact/vector_range.h"
#include "runtime/checkpoint/adapters.h"
#include "runtime/checkpoint/load.h"
#include "runtime/checkpoint/writer.h"
#include "runtime/comm/threads/run_threads.h"
#include "runtime/exec/program_runner.h"
#include "runtime/exec/shared_output.h"
#include "runtime/tensor/compute_scope.h"
#include "runtime/tensor/memory.h"
#include "test/lib/one_gpu/one_gpu.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

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
  std::string result, weightsPath;
  std::unique_ptr<Feed> weights;
  std::vector<std::unique_ptr<Feed>> inputs;
  std::string save, resume; // folders
  int64_t every = 0;        // steps; 0: only after the last one
};

/// What was measured on a rank, in bytes.
struct Metered {
  int64_t peak = 0, hostPeak = 0; ///< of its device and of the host
  int64_t kept = 0;               ///< on its device before the first batch: what lasts from step to step
};

/// Bytes of the constants of the step and of the programs that it runs. A constant that another of them has is shared.
int64_t constantBytes(const RankView &step) {
  std::vector<std::pair<RankView, const artifact::Constant *>> found;
  int64_t bytes = 0;
  auto count = [&](const artifact::Program &program) {
    RankView view(step.schedule(), program, step.rank());
    for (const artifact::Constant &constant : elementsOf(program.constants())) {
      int value = constant.value();
      auto isSame = [&](const auto &known) {
        const auto &[place, other] = known;
        return &place.program() != &program && place.dtype(other->value()) == view.dtype(value) &&
               place.shape(other->value()) == view.shape(value) && place.ranges(other->value()) == view.ranges(value) &&
               std::ranges::equal(*other->data(), *constant.data());
      };
      if (std::ranges::any_of(found, isSame))
        continue;
      found.emplace_back(view, &constant);
      bytes += elementCount(view.shape(value)) * dtypeSize(view.dtype(value));
    }
  };
  count(step.program());
  for (const artifact::Program *program : *step.schedule().programs())
    if (program != &step.program() && &runnerOf(step.schedule(), *program) == &step.program())
      count(*program);
  return bytes;
}

/// The planned memory of what persists over steps, for all programs of a step.
int64_t plannedToLast(const RankView &step, const artifact::Memory &planned) {
  return planned.parameters() + planned.states() + planned.accumulators() + constantBytes(step);
}

/// One write, so that lines of ranks do not mix. Host numbers are printed if the plan keeps something there. Ranks that
/// share a GPU share its memory, so the memory of one of them is not measured.
void printMemory(const RankView &place, const Metered &metered, const ResidentBytes &held, int64_t packed) {
  const artifact::Memory *planned = place.program().memory();
  std::string line = "rank " + std::to_string(place.rank()) + ":";
  auto add = [&](const char *what, int64_t metered, int64_t expected) {
    line += std::string(what) + std::to_string(metered) + " planned " + std::to_string(expected);
  };
  bool isMetered = deviceOfThread().isHost();
  if (isMetered) {
    add(" peak ", metered.peak, planned ? planned->peak() : 0);
    add(" kept ", metered.kept, planned ? plannedToLast(place, *planned) : 0);
  }
  if (isMetered && planned && planned->host_peak() > 0) {
    add(" host ", metered.hostPeak, planned->host_peak());
    add(" parameters ", held.hostParameters, planned->host_parameters());
    add(" states ", held.hostStates, planned->host_states());
  }
  line += " constants " + std::to_string(held.constants) + " packed " + std::to_string(packed);
  std::printf("%s\n", line.c_str());
}

/// Loads a checkpoint instead of the weights.
Expected<int64_t> resumeFrom(ProgramRunner &training, const Files &files, World &world) {
  MESHPLAN_ASSIGN_OR_RETURN(LoadedCheckpoint loaded, loadCheckpoint(world, training, files.resume));
  for (const std::string &note : loaded.notes)
    if (world.rank() == 0)
      std::printf("note: %s\n", note.c_str());
  return loaded.state.counters.steps;
}

/// Saves checkpoints at an interval.
class Saving {
public:
  static Expected<Saving> open(World &world, const Files &files, int64_t step) {
    Saving saving(files);
    if (files.save.empty())
      return saving;
    MESHPLAN_ASSIGN_OR_RETURN(CheckpointWriter writer, CheckpointWriter::open(world, {files.save, 2, step}));
    saving.writer.emplace(std::move(writer));
    return saving;
  }

  /// Called after each step.
  Status poll(ProgramRunner &training, size_t step) {
    if (!writer)
      return Status();
    MESHPLAN_RETURN_IF_ERROR(writer->poll());
    bool isDue = step + 1 == files.inputs.size() || (files.every > 0 && (step + 1) % files.every == 0);
    return isDue ? writer->start(training, TrainingState{.weights = files.weightsPath}) : Status();
  }

  Status finish(const RankView &place) {
    if (!writer)
      return Status();
    MESHPLAN_RETURN_IF_ERROR(writer->finish());
    std::printf("rank %lld: saving: stalled %.6f s, writing %.6f s\n", static_cast<long long>(place.rank()),
                writer->times().stalled, writer->times().writing);
    return Status();
  }

private:
  explicit Saving(const Files &files) : files(files) {}

  const Files &files;
  std::optional<CheckpointWriter> writer;
};

/// Memory pools of the host.
struct Pools {
  std::shared_ptr<MemoryPool> tensors = std::make_shared<MemoryPool>(), left = std::make_shared<MemoryPool>();
};

Status trainRank(const Artifact &artifact, const artifact::Program &program, const Files &files, const Pools &pools,
                 World &world) {
  MESHPLAN_ASSIGN_OR_RETURN(ProgramRunner training, ProgramRunner::create(artifact, program, world));
  MESHPLAN_ASSIGN_OR_RETURN(SharedOutput output,
                            SharedOutput::open(world, files.result, resultSpecs(program, files.inputs.size())));
  for (const auto &[name, number] : files.settings)
    MESHPLAN_RETURN_IF_ERROR(training.setNumber(name, number));
  int64_t first = 0;
  if (files.resume.empty()) {
    MESHPLAN_RETURN_IF_ERROR(training.loadParameters(*files.weights));
  } else {
    MESHPLAN_ASSIGN_OR_RETURN(first, resumeFrom(training, files, world));
  }
  MESHPLAN_ASSIGN_OR_RETURN(Saving saving, Saving::open(world, files, first));
  if (!training.warning().empty())
    std::fprintf(stderr, "run-steps: warning: %s\n", training.warning().c_str());
  Metered metered{.kept = pools.tensors->current()};
  for (size_t step = 0; step < files.inputs.size(); ++step) {
    MESHPLAN_RETURN_IF_ERROR(training.loadInputs(*files.inputs[step]));
    MESHPLAN_RETURN_IF_ERROR(training.run());
    if (training.outcome().nonfinite > 0)
      std::printf("%s\n", training.describeOutcome().c_str());
    MESHPLAN_RETURN_IF_ERROR(training.walk().writeOutputs(output.writer(), "step" + std::to_string(step) + "."));
    MESHPLAN_RETURN_IF_ERROR(saving.poll(training, step));
  }
  MESHPLAN_RETURN_IF_ERROR(saving.finish(training.walk().view()));
  metered.peak = pools.tensors->peak();
  metered.hostPeak = pools.left->peak();
  MESHPLAN_RETURN_IF_ERROR(training.walk().writeHeld(output.writer()));
  printMemory(training.walk().view(), metered, residentBytes(training.walk().view()), training.packedBytes());
  return output.commit();
}

Status runRank(const Artifact &artifact, const artifact::Program &program, const Files &files, World &hosts) {
  MESHPLAN_ASSIGN_OR_RETURN(Device device, sharedDevice(artifact.schedule(), hosts.rank()));
  Pools pools;
  PoolScope pooled(pools.tensors, pools.left);
  ComputeScope compute(1, device);
  return runOnSharedDevice("run-steps", hosts, device,
                           [&](World &world) { return trainRank(artifact, program, files, pools, world); });
}

/// Takes options from the front of the words.
Files takeOptions(std::vector<std::string> &words) {
  Files files;
  while (words.size() > 1 && words.front().starts_with("--")) {
    const std::string &option = words[0], &value = words[1];
    size_t equals = std::min(value.find('='), value.size() - 1);
    if (option == "--set")
      files.settings.emplace_back(value.substr(0, equals), std::atof(value.c_str() + equals + 1));
    else if (option == "--every")
      files.every = std::atoll(value.c_str());
    else
      (option == "--save" ? files.save : files.resume) = value;
    words.erase(words.begin(), words.begin() + 2);
  }
  return files;
}

Status run(Files files, const std::vector<std::string> &words) {
  installPoolAllocator();
  MESHPLAN_ASSIGN_OR_RETURN(Artifact artifact, loadSchedule(words[0]));
  MESHPLAN_ASSIGN_OR_RETURN(const artifact::Program *program,
                            findProgram(artifact.schedule(), artifact::ProgramRole::step));
  files.weightsPath = std::filesystem::absolute(words[1]);
  files.result = words[2];
  MESHPLAN_ASSIGN_OR_RETURN(TensorSource weights, TensorSource::open(words[1]));
  MESHPLAN_ASSIGN_OR_RETURN(files.weights, AdapterFeed::open(std::move(weights), /*adapters=*/"", *program));
  for (size_t index = 3; index < words.size(); ++index) {
    MESHPLAN_ASSIGN_OR_RETURN(auto feed, openFeed(words[index]));
    files.inputs.push_back(std::move(feed));
  }
  int64_t ranks = worldSizeOf(meshSizesOf(artifact.schedule(), *program));
  return rootCause(runThreads(ranks, {}, [&](World &hosts) { return runRank(artifact, *program, files, hosts); }));
}

} // namespace

int main(int count, char **arguments) {
  std::vector<std::string> words(arguments + 1, arguments + count);
  Files files = takeOptions(words);
  if (words.size() < 4) {
    std::fprintf(stderr, "usage: run-steps [--set NAME=NUMBER]... [--save FOLDER [--every STEPS]] [--resume FOLDER] "
                         "FILE.sched WEIGHTS RESULT INPUTS...\n");
    return 2;
  }
  Status status = run(std::move(files), words);
  if (!status.ok())
    std::fprintf(stderr, "run-steps: error: %s\n", status.message().c_str());
  return status.ok() ? 0 : 1;
}
