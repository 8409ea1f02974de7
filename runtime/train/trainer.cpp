//===- trainer.cpp - the training loop ------------------------------------===//
//
// One iteration, on the three threads of a rank. Ranks meet at the lines with (all):
//
//   the rank's thread                     the data's thread       the checkpoint's thread
//   take batch n, advance                 prepares batch n + 1
//   forward and backward (all)                                    copies parameters and states
//   wait for the copy, then optimizer                             writes the copy
//   agree: stop? maxima of the numbers (all)
//   poll the checkpoint (all), start one if due
//   report on rank 0
//
// Saving comes after agreeing, because a request to stop saves too, and before the report, which contains its time.
// What a rank decides alone must not change its sequence of collectives: it would hang, or meet another collective of
// the others.
//
//===----------------------------------------------------------------------===//

#include "runtime/train/trainer.h"

#include "runtime/base/format.h"
#include "runtime/schema/program_names.h"
#include "runtime/train/class_loss.h"
#include "runtime/train/scalars.h"

#include <cmath>

using namespace meshplan;

static double secondsSince(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// "rank 1: step 12: ...", without repeating a rank that the failure names already.
static Status at(const std::string &moment, const Status &failure, int64_t rank) {
  std::string own = "rank " + std::to_string(rank) + ": ";
  std::string_view message = failure.message();
  if (message.starts_with(own))
    message.remove_prefix(own.size());
  return Status::error(failure.code(), own, moment, ": ", message);
}

static Status withMemoryHelp(const Status &failure, const artifact::Program &program) {
  if (failure.code() != StatusCode::outOfMemory || !program.memory())
    return failure;
  return Status::error(failure.code(), failure.message(), "; help: the plan needs up to ",
                       fmt::format("{:.1f} MiB", static_cast<double>(program.memory()->peak()) / (1 << 20)),
                       " per rank, and ranks of one machine share its memory: 'recompute', sharded states, more "
                       "microbatches or fewer ranks per machine need less");
}

Expected<std::unique_ptr<Trainer>> Trainer::create(const TrainParts &parts, const TrainSchedule &schedule) {
  std::unique_ptr<Trainer> trainer(new Trainer(parts, schedule));
  const artifact::Program &program = parts.program->walk().view().program();
  MESHPLAN_ASSIGN_OR_RETURN(trainer->samples, samplesOf(program));
  trainer->tokens = tokensOf(program);
  MESHPLAN_ASSIGN_OR_RETURN(trainer->hosts, parts.world->host().createWorldGroup("world"));
  return trainer;
}

Status Trainer::run() {
  Status status = goOn();
  // The failure is the same on all ranks, so all of them end here. The checkpoint being written is completed first.
  if (status.code() == StatusCode::numericFault || status.code() == StatusCode::aborted)
    if (parts.checkpoints && parts.world->failure().ok() && parts.checkpoints->finish().ok())
      (void)tellSaved();
  if (status.ok())
    return status;
  return at(moment, withMemoryHelp(status, parts.program->walk().view().program()), parts.world->rank());
}

Status Trainer::goOn() {
  // A resumed run may already be complete; running the same command again is then not an error.
  if (done() >= schedule.lastStep) {
    MESHPLAN_RETURN_IF_ERROR(note("step " + std::to_string(done()) + " of " + std::to_string(schedule.lastStep) +
                                  " is already done: nothing to do"));
    return saveLast();
  }
  // The loss of the initial weights is the baseline of all later evaluations.
  if (done() == 0)
    MESHPLAN_RETURN_IF_ERROR(evaluate());
  while (done() < schedule.lastStep && !isStopped) {
    MESHPLAN_RETURN_IF_ERROR(runStep());
    bool isDue = schedule.evaluateEvery > 0 && done() % schedule.evaluateEvery == 0;
    if (isDue && !isStopped)
      MESHPLAN_RETURN_IF_ERROR(evaluate());
  }
  return finish();
}

Status Trainer::takeBatch(StepReport &report) {
  auto begin = Clock::now();
  MESHPLAN_RETURN_IF_ERROR(parts.program->loadInputs(*parts.batches));
  // Starts preparing the next batch, which overlaps with the step.
  parts.batches->advance();
  report.dataSeconds = secondsSince(begin);
  return Status();
}

Status Trainer::takeNumbers(StepReport &report) {
  ProgramRunner &program = *parts.program;
  std::string_view name = program.walk().view().program().loss()->string_view();
  MESHPLAN_ASSIGN_OR_RETURN(report.loss, scalarOutput(program.walk(), name));
  MESHPLAN_ASSIGN_OR_RETURN(report.gradientNorm, norm.value(report.lossScale));
  report.nonfinite = program.outcome().nonfinite;
  MESHPLAN_ASSIGN_OR_RETURN(report.experts, expertsOf(program.walk()));
  // Explained here, while the batch that caused it is still known.
  if (!std::isfinite(report.loss))
    MESHPLAN_RETURN_IF_ERROR(explainNonfinite(name, report.loss));
  report.samples = samples;
  report.tokens = tokens;
  report.peakBytes = parts.peakBytes();
  loss = report.loss;
  return Status();
}

/// Describes ignored targets in the batch of the current step.
std::string Trainer::textOfIgnoredTargets() const {
  auto program = findProgram(parts.program->walk().view().schedule(), artifact::ProgramRole::eval);
  const Dataset &data = parts.batches->dataset();
  return program ? textOfIgnored(**program, data, parts.batches->position() - data.batch().samples) : "";
}

/// With a guard, such a step is skipped and has changed nothing, so the run continues.
Status Trainer::explainNonfinite(std::string_view name, double number) const {
  std::string ignored = std::isnan(number) ? textOfIgnoredTargets() : "";
  if (parts.program->walk().view().program().guard())
    return ignored.empty() ? Status() : note(moment + ": the loss is nan: " + ignored);
  return Status::error(
      StatusCode::numericFault, "the loss '", name, "' is ", std::isnan(number) ? "nan" : "infinite",
      ignored.empty()
          ? "; help: with 'nonfinite gradients stop' in the plan a run names the parameter and the rank of the first "
            "non-finite gradient, with 'skip' it continues"
          : ": " + ignored + "; help: leave such batches out of the data, or continue with 'nonfinite gradients skip'");
}

Status Trainer::saveWhenDue(StepReport &report, bool isStopping) {
  if (!parts.checkpoints)
    return Status();
  auto begin = Clock::now();
  // Every step, because each phase of a checkpoint is agreed in one.
  MESHPLAN_RETURN_IF_ERROR(parts.checkpoints->poll());
  bool isDue =
      isStopping || done() == schedule.lastStep || (schedule.saveEvery > 0 && done() % schedule.saveEvery == 0);
  if (isDue)
    // At a stop or the last step this is the final state, and saveLast finds it saved.
    MESHPLAN_RETURN_IF_ERROR(parts.checkpoints->start(*parts.program, parts.stateToSave()));
  report.checkpointSeconds = secondsSince(begin);
  return tellSaved();
}

/// The maximum of the numbers over all ranks, and whether any rank was asked to stop.
Status Trainer::agree(StepReport &report, bool &stops) {
  double numbers[] = {parts.stopIsWished() ? 1.0 : 0.0, report.dataSeconds, report.exposedSeconds.value_or(0),
                      static_cast<double>(report.peakBytes)};
  MESHPLAN_RETURN_IF_ERROR(takeLargest(*hosts, numbers, "between two steps"));
  stops = numbers[0] > 0;
  report.dataSeconds = numbers[1];
  report.exposedSeconds = parts.isHostWaiting ? std::optional(numbers[2]) : std::nullopt;
  report.peakBytes = static_cast<int64_t>(numbers[3]);
  return Status();
}

Status Trainer::runStep() {
  auto begin = Clock::now();
  ProgramRunner &program = *parts.program;
  int64_t number = done() + 1;
  moment = "step " + std::to_string(number);
  parts.world->log().beginStep(number);
  // Also for the collectives between hosts, which have a log of their own on GPUs.
  parts.world->host().log().beginStep(number);
  StepReport report{.step = number, .lastStep = schedule.lastStep, .rates = ratesOf(program)};
  MESHPLAN_RETURN_IF_ERROR(takeBatch(report));
  // The counter runs over all steps, so the step's part is a difference.
  double waited = program.waitedSeconds();
  // The last step is the most representative one for a trace: caches and connections are warm.
  MESHPLAN_RETURN_IF_ERROR(program.run(number == schedule.lastStep ? parts.trace : nullptr, norm.observer()));
  report.exposedSeconds = program.waitedSeconds() - waited;
  report.lossScale = program.walk().numbers().find(program_names::lossScale, number - 1);
  MESHPLAN_RETURN_IF_ERROR(takeNumbers(report));
  // All ranks must save at the same step. A signal reaches them at different times, so they agree on it.
  MESHPLAN_RETURN_IF_ERROR(agree(report, isStopped));
  MESHPLAN_RETURN_IF_ERROR(saveWhenDue(report, isStopped));
  report.seconds = secondsSince(begin);
  return parts.reports ? parts.reports->step(report) : Status();
}

Status Trainer::evaluate() {
  // The last step may be due by itself and at the end; it is evaluated once.
  if (!parts.evaluation || evaluated == done())
    return Status();
  moment = "evaluation after step " + std::to_string(done());
  auto stops = [this]() -> Expected<bool> {
    // All ranks must leave the evaluation after the same batch.
    double wish = parts.stopIsWished() ? 1 : 0;
    MESHPLAN_RETURN_IF_ERROR(takeLargest(*hosts, {&wish, 1}, "between two batches of an evaluation"));
    return isStopped = wish > 0;
  };
  MESHPLAN_ASSIGN_OR_RETURN(std::optional<EvaluationReport> report, parts.evaluation->run(*parts.program, stops));
  if (!report)
    return Status();
  evaluated = done();
  return parts.reports ? parts.reports->evaluation(*report) : Status();
}

/// Reports a checkpoint that has been completed.
Status Trainer::tellSaved() {
  int64_t step = parts.checkpoints->lastStep();
  // A checkpoint completes some steps after it started; each is reported once.
  if (step == toldSaved || !parts.reports)
    return Status();
  toldSaved = step;
  return parts.reports->checkpoint({step, checkpointPath(parts.checkpointFolder, step)});
}

/// Saves the final state, unless the folder has a checkpoint of this step already.
Status Trainer::saveLast() {
  if (!parts.checkpoints)
    return Status();
  if (done() > 0)
    MESHPLAN_RETURN_IF_ERROR(parts.checkpoints->start(*parts.program, parts.stateToSave()));
  MESHPLAN_RETURN_IF_ERROR(parts.checkpoints->finish());
  return tellSaved();
}

Status Trainer::finish() {
  if (!isStopped)
    MESHPLAN_RETURN_IF_ERROR(evaluate());
  MESHPLAN_RETURN_IF_ERROR(saveLast());
  if (!isStopped)
    return Status();
  const char *signal = parts.stopIsWished();
  return note(std::string("stopped by ") + (signal ? signal : "another rank's signal") + " after step " +
              std::to_string(done()) + " of " + std::to_string(schedule.lastStep) + "; --resume continues from there");
}
