//===- train_run.cpp - shared inputs of a training's ranks ----------------===//
//
// The ranks of a process share open files and the data set; what depends on the rank is opened by it. A training starts
// from weights, from the distributions of the plan, or from a checkpoint, and what excludes another is refused here,
// before hours of training show it.
//
//===----------------------------------------------------------------------===//

#include "tools/meshplan_run/train_run.h"

#include "runtime/artifact/vector_range.h"
#include "runtime/checkpoint/folder.h"
#include "runtime/checkpoint/source.h"
#include "runtime/dataset/data_words.h"
#include "runtime/exec/initial/initial_feed.h"
#include "runtime/schema/program_names.h"
#include "runtime/train/evaluation.h"

#include <algorithm>
#include <filesystem>
#include <sstream>

using namespace meshplan;

static Status checkTrains(const RunOptions &options, const artifact::Program &program) {
  // It may still update accumulators, for microbatches.
  for (const artifact::Port &output : elementsOf(program.outputs()))
    if (output.name()->string_view().starts_with("gradients."))
      return Status::error(StatusCode::invalid, options.schedule,
                           ": a step of this schedule returns gradients and updates nothing; help: compile the plan "
                           "without --gradients");
  bool hasUpdates = program.updates() && program.updates()->size() > 0;
  bool hasLoss = program.loss() && program.loss()->size() > 0;
  if (hasUpdates && hasLoss)
    return Status();
  return Status::error(StatusCode::invalid, options.schedule, ": a step of this plan updates nothing; help: add '",
                       hasLoss ? "optimizer adamw { lr 3e-4 }" : "loss NAME", "' to the plan and compile it");
}

/// Opens the weights that a training begins with, and records their file if checkpoints lack frozen parameters.
static Status openWeights(const RunOptions &options, const Job &job, TrainInputs &inputs) {
  if (!options.weights.empty()) {
    auto opened = openModelWeights(options.weights, *job.program);
    if (auto last = findCheckpoint(options.weights); !opened && last)
      return Status::error(StatusCode::invalid, "--weights: '", options.weights,
                           "' is a folder of checkpoints; help: name one, '", *last,
                           "', or continue from it with --checkpoint and --resume");
    MESHPLAN_ASSIGN_OR_RETURN(TensorSource source, std::move(opened));
    MESHPLAN_ASSIGN_OR_RETURN(auto feed, AdapterFeed::open(std::move(source), options.adapters, *job.program));
    inputs.weightsWarning = feed->warning();
    inputs.recordedWeights = feed->replacesWeights() ? "" : options.weights;
    inputs.weights = std::move(feed);
    return Status();
  }
  auto drawn = InitialFeed::create(*job.program, static_cast<uint64_t>(inputs.seed));
  if (!drawn && !options.train.checkpoint.empty() && findCheckpoint(options.train.checkpoint))
    return Status::error(drawn.status().code(), "without --weights: ", drawn.status().message(), "; or continue from '",
                         options.train.checkpoint, "' with --resume");
  if (!drawn)
    return Status::error(drawn.status().code(), "without --weights: ", drawn.status().message());
  inputs.weights = std::make_unique<InitialFeed>(*std::move(drawn));
  return Status();
}

/// The named files; for a folder all files in it.
static std::vector<std::string> filesRead(const RunOptions &options) {
  std::vector<std::string> files{options.schedule};
  std::vector<std::string> named = options.train.data;
  named.insert(named.end(), options.train.evaluationData.begin(), options.train.evaluationData.end());
  named.push_back(options.weights);
  named.push_back(options.adapters);
  for (const std::string &path : named) {
    files.push_back(path);
    std::error_code ignored;
    for (const auto &entry : std::filesystem::directory_iterator(path, ignored))
      files.push_back(entry.path().string());
  }
  std::erase(files, "");
  return files;
}

/// The checkpoint that a training continues from; empty for a new one.
static Expected<std::string> findBeginning(const RunOptions &options) {
  const TrainOptions &train = options.train;
  if (!train.continues())
    return std::string();
  const char *option = train.resume ? "--resume" : "--resume-from";
  if (!options.adapters.empty())
    return Status::error(StatusCode::invalid, option,
                         ": the adapters are those of the checkpoint; help: leave out --adapters");
  std::filesystem::path path = std::filesystem::path(train.checkpoint).lexically_normal();
  if (!train.checkpoint.empty() && std::filesystem::exists(path / recordName))
    return Status::error(StatusCode::invalid, option, ": '", train.checkpoint,
                         "' is a checkpoint itself; help: --checkpoint names the folder that checkpoints are in",
                         train.resume ? ", and --resume-from a checkpoint" : "");
  auto found = findCheckpoint(train.resume ? train.checkpoint : train.resumeFrom);
  if (found)
    return found;
  return Status::error(found.status().code(), option, ": ", found.status().message(),
                       "; help: a training that begins has no ", option);
}

/// The seed of the saved run, unless the command line gives one, which is compared with it later.
static int64_t seedOf(const RunOptions &options, const std::string &checkpoint) {
  if (options.train.seed || checkpoint.empty())
    return options.train.seed.value_or(0);
  auto record = openRecord(checkpoint);
  return record ? record->state.seed : 0; // errors of the record are reported when it is loaded
}

Expected<TrainInputs> TrainInputs::open(const RunOptions &options, const Job &job) {
  const TrainOptions &train = options.train;
  TrainInputs inputs;
  MESHPLAN_RETURN_IF_ERROR(checkTrains(options, *job.program));
  MESHPLAN_RETURN_IF_ERROR(checkWritten(options, filesRead(options)));
  // Before the long work, unless the log is in a folder that the checkpoints will create.
  std::filesystem::path logFolder = std::filesystem::path(train.log).parent_path();
  if (!train.log.empty() && (train.checkpoint.empty() || std::filesystem::is_directory(logFolder)))
    MESHPLAN_RETURN_IF_ERROR(AtomicFile::create(train.log).status());
  MESHPLAN_ASSIGN_OR_RETURN(inputs.checkpoint, findBeginning(options));
  inputs.seed = seedOf(options, inputs.checkpoint);
  if (inputs.checkpoint.empty())
    MESHPLAN_RETURN_IF_ERROR(openWeights(options, job, inputs));
  MESHPLAN_ASSIGN_OR_RETURN(TokenOffsets tokens, parseTokenOffsets(train.tokens));
  DatasetOptions order{.seed = static_cast<uint64_t>(inputs.seed)};
  // Token options that neither data set can use are reported for the first one.
  bool areHeldOut = hasTokenFiles(train.evaluationData);
  if (!areHeldOut || hasTokenFiles(train.data))
    order.tokens = tokens;
  MESHPLAN_ASSIGN_OR_RETURN(inputs.data, Dataset::open(train.data, inputsOf(*job.program), order));
  if (!train.evaluationData.empty()) {
    MESHPLAN_ASSIGN_OR_RETURN(const artifact::Program *program, evaluationProgram(job.artifact.schedule()));
    MESHPLAN_ASSIGN_OR_RETURN(inputs.evaluationData,
                              Dataset::open(train.evaluationData, inputsOf(*program),
                                            {.shuffles = false, .tokens = areHeldOut ? tokens : TokenOffsets()}));
  }
  return inputs;
}

Expected<CarriedSettings> meshplan::carriedSettings(const TrainInputs::Numbers &saved,
                                                    const TrainInputs::Numbers &given,
                                                    const artifact::Program &program) {
  CarriedSettings carried;
  bool hasDynamicScale = program.guard() && program.guard()->interval() > 0;
  for (const auto &[name, number] : saved) {
    auto isSame = [&](const auto &each) { return each.first == name; };
    if (std::ranges::any_of(given, isSame) || (hasDynamicScale && name == program_names::lossScale))
      continue;
    Settings known(program);
    std::ostringstream text;
    text << name << " is " << number << ", which the run before was given with --set";
    if (known.set(name, number).ok())
      carried.numbers.emplace_back(name, number);
    else
      text << ", is not used: this plan has no such setting";
    carried.notes.push_back(text.str());
  }
  return carried;
}

std::string meshplan::failureFolder(const RunOptions &options) {
  if (!options.train.checkpoint.empty())
    return options.train.checkpoint;
  std::string folder = std::filesystem::path(options.train.log).parent_path().string();
  return folder.empty() ? "." : folder;
}
