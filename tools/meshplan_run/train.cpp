//===- train.cpp - meshplan-run train -------------------------------------===//
//
// One RankTraining for each rank of the process: load() fills parameters,
// states and settings, from weights or from a checkpoint; prepare() opens the
// data, checkpoints, evaluation and reports; train() runs the steps. After a
// failure each rank writes its last collectives, to find out which rank and
// which collective the others waited for.
//
//===----------------------------------------------------------------------===//

#include "tools/meshplan_run/train_run.h"

#include "runtime/base/ending_signal.h"
#include "runtime/checkpoint/integrity/last_intact.h"
#include "runtime/checkpoint/load.h"
#include "runtime/schema/program_names.h"
#include "runtime/train/event_file.h"
#include "runtime/train/failure_report.h"
#include "runtime/train/json_log.h"
#include "runtime/train/progress.h"
#include "runtime/train/trainer.h"
#include "tools/meshplan_run/rank_run.h"

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <unistd.h>

using namespace meshplan;

namespace {

/// The result of a rank for the summary.
struct TrainResult {
  int64_t steps = 0;
  std::optional<double> loss;
  double seconds = 0;
};

/// The training on one rank.
class RankTraining {
public:
  /// `isTerminal`: progress is shown to a person.
  RankTraining(const RunOptions &options, const Job &job, const TrainInputs &inputs, RankRun &run, bool isTerminal)
      : options(options), job(job), inputs(inputs), run(run), program(run.program), isTerminal(isTerminal) {}

  Status train(TrainResult &result);

private:
  Status load();
  Status loadFresh();
  Status resume();
  Status setSeed();
  Status prepare();
  Status makeReports();
  int64_t stepsOfThisRun() const;
  TrainingState stateToSave() const;
  TrainParts partsOf();
  bool isFirst() const { return run.world.rank() == 0; }

  const RunOptions &options;
  const Job &job;
  const TrainInputs &inputs;
  RankRun &run;
  ProgramRunner &program;
  bool isTerminal;
  TrainingState state; // the state that the run begins with
  std::vector<std::string> notes;
  std::unique_ptr<DatasetFeed> batches;
  std::optional<CheckpointWriter> checkpoints;
  std::optional<Evaluation> evaluation;
  std::unique_ptr<ReportSinks> reports;
};

/// Adds a help: a checkpoint need not have parameters that are not trained.
Status withCheckpointHelp(const Status &status, const std::string &weights) {
  std::filesystem::path folder(weights);
  if (!std::filesystem::is_directory(folder))
    folder = folder.parent_path();
  if (status.code() != StatusCode::notFound || !std::filesystem::exists(folder / "checkpoint.json"))
    return status;
  return Status(status.code(), status.message() +
                                   "; help: it belongs to a checkpoint, which has only trained parameters: "
                                   "'meshplan-run export' writes all");
}

Status RankTraining::loadFresh() {
  if (Status status = program.loadParameters(*inputs.weights); !status.ok())
    return withCheckpointHelp(status, options.weights);
  run.warnOfWeights(inputs.weightsWarning);
  state.weights = inputs.recordedWeights;
  state.seed = inputs.seed;
  return Status();
}

Status RankTraining::resume() {
  auto loaded = loadCheckpoint(run.world, program, inputs.checkpoint, options.weights);
  if (!loaded)
    return withLastIntact(loaded.status(), inputs.checkpoint,
                          options.train.resume ? options.train.checkpoint : options.train.resumeFrom);
  state = std::move(loaded->state);
  notes = std::move(loaded->notes);
  if (!options.weights.empty() && loaded->hasAllParameters)
    notes.push_back("--weights is not read: the checkpoint has all parameters");
  // The files may have been moved. A checkpoint that names no weights needs none, and so will later ones.
  if (!options.weights.empty() && !state.weights.empty()) {
    if (auto opened = TensorSource::open(options.weights); !opened)
      return opened.status().withContext("--weights");
    state.weights = options.weights;
  }
  DataState data = inputs.data->stateAt(state.samplesConsumed);
  data.samples = state.samples;
  data.fingerprint = state.dataFingerprint;
  data.seed = static_cast<uint64_t>(state.seed);
  return inputs.data->checkResume(data).withContext(inputs.checkpoint);
}

Status RankTraining::load() {
  MESHPLAN_RETURN_IF_ERROR(inputs.checkpoint.empty() ? loadFresh() : resume());
  state.samples = inputs.data->samples();
  state.dataFingerprint = inputs.data->fingerprint();
  // Settings of the command line are set already; now those of the previous run are added.
  MESHPLAN_ASSIGN_OR_RETURN(CarriedSettings carried, carriedSettings(state.settings, job.settings, *job.program));
  std::ranges::move(carried.notes, std::back_inserter(notes));
  for (const auto &[name, number] : carried.numbers)
    MESHPLAN_RETURN_IF_ERROR(program.setNumber(name, number));
  state.settings = std::move(carried.numbers);
  state.settings.insert(state.settings.end(), job.settings.begin(), job.settings.end());
  return setSeed();
}

/// Sets the seed of random operators, if the program has any.
Status RankTraining::setSeed() {
  bool isGiven =
      std::ranges::any_of(state.settings, [](const auto &each) { return each.first == program_names::seed; });
  if (isGiven || !program.walk().numbers().find(program_names::seed, 0))
    return Status();
  return program.setNumber(program_names::seed, static_cast<double>(inputs.seed));
}

/// The number of steps done so far, if this run continues the folder and log of the previous one; 0 otherwise.
int64_t RankTraining::stepsOfThisRun() const {
  bool continues = options.train.resume || isOfFolder(inputs.checkpoint, options.train.checkpoint);
  return continues ? program.walk().steps() : 0;
}

Status RankTraining::makeReports() {
  if (!isFirst())
    return Status();
  const TrainOptions &train = options.train;
  reports = std::make_unique<ReportSinks>();
  reports->add(makeProgress(options.json ? std::cerr : std::cout, isTerminal));
  if (!train.log.empty()) {
    MESHPLAN_ASSIGN_OR_RETURN(auto log, openJsonLog(train.log, stepsOfThisRun()));
    reports->add(std::move(log));
  }
  if (!train.tensorboard.empty()) {
    MESHPLAN_ASSIGN_OR_RETURN(auto events, openEventFile(train.tensorboard));
    reports->add(std::move(events));
  }
  if (train.checkpoint.empty())
    MESHPLAN_RETURN_IF_ERROR(reports->note("nothing is saved: --checkpoint names a folder for checkpoints"));
  if (!inputs.checkpoint.empty())
    MESHPLAN_RETURN_IF_ERROR(reports->note("continues from " + inputs.checkpoint));
  for (const std::string &note : notes)
    MESHPLAN_RETURN_IF_ERROR(reports->note(note));
  return Status();
}

Status RankTraining::prepare() {
  const TrainOptions &train = options.train;
  // Removes the file of a previous run.
  std::error_code ignored;
  std::filesystem::remove(collectivesPath(failureFolder(options), run.world.rank()), ignored);
  batches = std::make_unique<DatasetFeed>(inputs.data, state.samplesConsumed);
  if (!train.checkpoint.empty()) {
    MESHPLAN_ASSIGN_OR_RETURN(CheckpointWriter writer,
                              CheckpointWriter::open(run.world, {train.checkpoint, train.keep, stepsOfThisRun()}));
    checkpoints.emplace(std::move(writer));
  }
  if (inputs.evaluationData) {
    MESHPLAN_ASSIGN_OR_RETURN(Evaluation made,
                              Evaluation::create(program, inputs.evaluationData, train.evaluateBatches));
    evaluation.emplace(std::move(made));
  }
  return makeReports();
}

TrainingState RankTraining::stateToSave() const {
  TrainingState saved = state;
  saved.samplesConsumed = batches->position();
  return saved;
}

TrainParts RankTraining::partsOf() {
  TrainParts parts{.world = &run.world, .program = &program, .batches = batches.get()};
  parts.checkpoints = checkpoints ? &*checkpoints : nullptr;
  parts.checkpointFolder = options.train.checkpoint;
  parts.evaluation = evaluation ? &*evaluation : nullptr;
  parts.reports = reports.get();
  parts.trace = run.trace();
  parts.isHostWaiting = !job.isForCuda();
  parts.peakBytes = [this] { return run.peakBytes().device; };
  parts.stateToSave = [this] { return stateToSave(); };
  parts.stopIsWished = stopRequest;
  return parts;
}

Status RankTraining::train(TrainResult &result) {
  MESHPLAN_RETURN_IF_ERROR(load());
  MESHPLAN_RETURN_IF_ERROR(prepare());
  auto begin = std::chrono::steady_clock::now();
  MESHPLAN_ASSIGN_OR_RETURN(auto trainer, Trainer::create(partsOf(), {options.train.steps, options.train.every,
                                                                      options.train.evaluateEvery}));
  Status status = trainer->run();
  if (reports)
    (void)reports->finish();
  if (!status.ok()) {
    // The abort comes first, so that other ranks do not wait while this one writes.
    run.world.abort(Status(StatusCode::peerLost, status.message()));
    Status written = writeCollectives(run.world, status, failureFolder(options));
    std::string where =
        "; the last collectives of this rank are in " + collectivesPath(failureFolder(options), run.world.rank());
    return Status(status.code(), status.message() + (written.ok() ? where : "; and " + written.message()));
  }
  if (isFirst())
    result = {program.walk().steps(), trainer->lastLoss(),
              std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count()};
  return Status();
}

Status report(const RunOptions &options, const Job &job, const Reports &reports, const TrainResult &result) {
  if (!options.trace.empty())
    MESHPLAN_RETURN_IF_ERROR(writeTraces(options.trace, reports.traces));
  if (!options.json) {
    // Without a step there is no peak to compare with the planned one.
    if (result.loss)
      printMemory(job, reports);
    return Status();
  }
  nlohmann::json json = {{"program", "step"}, {"steps", result.steps}, {"seconds", result.seconds}};
  json["loss"] = result.loss ? nlohmann::json(*result.loss) : nlohmann::json();
  json["checkpoint"] = options.train.checkpoint;
  json["memory"] = memoryJson(job, reports);
  std::cout << json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) << "\n";
  return Status();
}

Status train(const RunOptions &options, const Job &job, Ranks &ranks) {
  MESHPLAN_ASSIGN_OR_RETURN(TrainInputs inputs, TrainInputs::open(options, job));
  TrainResult result;
  Reports reports;
  auto body = [&](RankRun &run) -> Status {
    bool isTerminal = ranks.areAllHere() && ::isatty(options.json ? STDERR_FILENO : STDOUT_FILENO) != 0;
    RankTraining training(options, job, inputs, run, isTerminal);
    MESHPLAN_RETURN_IF_ERROR(training.train(result));
    return run.gather(reports);
  };
  MESHPLAN_RETURN_IF_ERROR(runRanks(options, job, ranks, body));
  return reports.here() ? report(options, job, reports, result) : Status();
}

} // namespace

int meshplan::runTrain(const RunOptions &options) {
  // Without a folder nothing is saved, and a signal ends the run at once.
  if (!options.train.checkpoint.empty())
    holdStopRequests();
  else
    sayAtInterrupt("\nmeshplan-run: ended by SIGINT; without --checkpoint nothing is saved\n");
  RunOptions step = options;
  step.role = artifact::ProgramRole::step;
  return runJob(step, [&](const Job &job, Ranks &ranks) { return train(step, job, ranks); });
}
