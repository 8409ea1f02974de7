//===- main.cpp - meshplan-run: runs compiled schedules -------------------===//

#include "runtime/base/map_faults.h"
#include "runtime/base/names.h"
#include "runtime/base/temporary_files.h"
#include "tools/command_line/command_line.h"
#include "tools/meshplan_run/options.h"

#include <csignal>
#include <cstdlib>
#include <string_view>
#include <unistd.h>

using namespace meshplan;

/// Restarts the program if OMP_WAIT_POLICY is not set, because OpenMP reads it at load time. The reference of `verify`
/// computes with several threads: if other ranks compute at the same time, threads that wait actively take nine tenths
/// of the time. If the restart fails, the program continues.
static void waitPassively(int argc, char **argv) {
  if (argc < 2 || std::string_view(argv[1]) != "verify" || ::getenv("OMP_WAIT_POLICY"))
    return;
  ::setenv("OMP_WAIT_POLICY", "PASSIVE", /*overwrite=*/1);
  (void)::execv("/proc/self/exe", argv);
}

// Thirty years; a longer time would overflow the clock.
static constexpr int64_t mostSeconds = 1'000'000'000;
// The times of all steps are kept in memory.
static constexpr int64_t mostSteps = 1'000'000'000;

// The settings of a program are doubles, which represent these integers exactly.
static constexpr int64_t mostSeed = (int64_t(1) << 53) - 1;

static void addCommonOptions(CLI::App &command, RunOptions &options) {
  command.add_option("schedule", options.schedule, "schedule that `meshplan compile` wrote (.sched)")->required();
  command
      .add_option("--backend", options.backend,
                  "how ranks reach each other: as threads of this process; one in each process that a launcher has "
                  "started, over mpi; or, if the schedule is for cuda, their GPUs over nccl; default: chosen from the "
                  "schedule and the launcher")
      ->check(oneOf({"threads", "mpi", "nccl"}));
  command.add_option("--timeout", options.timeoutSeconds, "seconds that a rank waits for another")
      ->check(positiveNumber(mostSeconds))
      ->capture_default_str();
  command.add_flag("--json", options.json, "print the result as JSON");
}

static void addSettings(CLI::App &command, RunOptions &options) {
  command.add_option("--set", options.settings, "set a setting of the program: seed=7, step=3; may be repeated")
      ->type_name("NAME=NUMBER");
}

static void addProgramOptions(CLI::App &command, RunOptions &options) {
  command.add_option("--program", options.program, "program of the schedule")->capture_default_str();
  addSettings(command, options);
  command.add_option("--trace", options.trace, "write when each instruction ran, in Chrome's trace format");
}

/// Adds the option for weights, with `text` as its help, and the one for adapters.
static CLI::Option *addWeights(CLI::App &command, RunOptions &options, const std::string &text) {
  CLI::Option *weights = command.add_option("--weights", options.weights, text);
  command
      .add_option("--adapters", options.adapters,
                  "LoRA adapters as PEFT saves them, a folder or a file; --weights then has the model without them")
      ->needs(weights);
  return weights;
}

static void addTrainOptions(CLI::App &command, RunOptions &options) {
  TrainOptions &train = options.train;
  CLI::Validator count = positiveInteger(mostSteps);
  addWeights(command, options, "as for forward; without it, the plan's `init` draws them");
  command
      .add_option("--data", train.data,
                  "data set: safetensors, a folder of them, or tokens; PATH=WEIGHT blends several; may be repeated")
      ->required();
  command.add_option("--tokens", train.tokens,
                     "INPUT=same or INPUT=next: which tokens of token files an input takes: those of the sample, or "
                     "the next ones; may be repeated");
  command.add_option("--steps", train.steps, "number of the last step")->required()->check(count);
  command
      .add_option(
          "--seed", train.seed,
          "of the order of the samples, initial weights and random operators; without it 0, or that of the run that "
          "is continued")
      ->check(wholeNumber(mostSeed));
  addSettings(command, options);
  CLI::Option *checkpoint =
      command.add_option("--checkpoint", train.checkpoint, "folder of checkpoints; the last step is always saved");
  command.add_option("--every", train.every, "save after each of so many steps")->check(count)->needs(checkpoint);
  command.add_option("--keep", train.keep, "checkpoints to keep, the last ones; without it, all")
      ->check(count)
      ->needs(checkpoint);
  CLI::Option *resume = command.add_flag("--resume", train.resume, "continue from the last checkpoint of the folder");
  resume->needs(checkpoint);
  command
      .add_option("--resume-from", train.resumeFrom,
                  "continue from this checkpoint, or the last one of this folder, which is not changed")
      ->check(fileName())
      ->excludes(resume);
  CLI::Option *held = command.add_option("--eval-data", train.evaluationData, "data set that is not trained on");
  command.add_option("--eval-every", train.evaluateEvery, "evaluate after each of so many steps, not only at the ends")
      ->check(count)
      ->needs(held);
  command.add_option("--eval-batches", train.evaluateBatches, "batches of an evaluation; default: all complete ones")
      ->check(count)
      ->needs(held);
  command.add_option("--log", train.log, "write a line of JSON for each step")->check(fileName());
  command.add_option("--tensorboard", train.tensorboard, "write event files into this folder")->check(fileName());
  command.add_option("--trace", options.trace,
                     "write when each instruction of the last step ran, in Chrome's trace format");
}

static CLI::App *addEval(CLI::App &app, RunOptions &options) {
  CLI::App *command = app.add_subcommand("eval", "computes the loss of a checkpoint, or of weights, on a data set");
  addCommonOptions(*command, options);
  command->add_option("--checkpoint", options.eval.checkpoint, "checkpoint, or a folder of them: then the last one");
  addWeights(*command, options,
             "as for forward, instead of a checkpoint; beside one, the initial weights of the training, if it has only "
             "trained parameters");
  command->add_option("--data", options.eval.data, "data set, as for train; may be repeated")->required();
  command->add_option("--tokens", options.eval.tokens, "as for train");
  command->add_option("--batches", options.eval.batches, "number of batches; default: all complete ones")
      ->check(positiveInteger(mostSteps));
  addSettings(*command, options);
  command->parse_complete_callback([&options] {
    if (options.eval.checkpoint.empty() && options.weights.empty())
      throw CLI::RequiredError("--checkpoint or --weights");
  });
  return command;
}

static CLI::App *addExport(CLI::App &app, ExportCommandOptions &options) {
  CLI::App *command = app.add_subcommand("export", "writes a checkpoint as a Hugging Face model");
  command->add_option("checkpoint", options.checkpoint, "checkpoint, or a folder of them: then the last one")
      ->required();
  command->add_option("-o,--output", options.output, "folder to write, which must not exist")->required();
  command->add_option("--config", options.config,
                      "folder with config.json and tokenizer; without it, that of the initial weights of the training");
  command->add_option("--weights", options.weights,
                      "the initial weights, for a checkpoint with only trained parameters; default: where "
                      "they were");
  command->add_option("--dtype", options.dtype, "convert floats; without it, each parameter's own type")
      ->check(oneOf({"f32", "bf16", "f16", "f64"}));
  command->add_flag("--adapters", options.adapters, "write the LoRA adapters alone, as PEFT reads them");
  command->add_flag("--json", options.json, "print the result as JSON");
  return command;
}

// A rank holds a few hundred megabytes, and each measurement takes at least three rounds.
static constexpr int64_t mostRanks = 4096, mostCalibration = 3600;

static CLI::App *addCalibrate(CLI::App &app, RunOptions &run, CalibrateOptions &options) {
  CLI::App *command =
      app.add_subcommand("calibrate", "measures this machine, and writes a file for meshplan --cluster");
  command->add_option("-o,--output", options.output, "cluster file to write")->required()->check(fileName());
  command
      ->add_option("--backend", run.backend,
                   "how ranks reach each other: as threads of this process; one in each process that a launcher has "
                   "started, over mpi; or their GPUs over nccl; default: threads, or mpi under a launcher")
      ->check(oneOf({"threads", "mpi", "nccl"}));
  command
      ->add_option("-n,--ranks", options.ranks,
                   "ranks that work at once; default: those of the launcher, or one for "
                   "each core")
      ->check(positiveInteger(mostRanks));
  command->add_option("--seconds", options.seconds, "about how long to measure")
      ->check(positiveNumber(mostCalibration))
      ->capture_default_str();
  command->add_option("--timeout", run.timeoutSeconds, "seconds that a rank waits for another")
      ->check(positiveNumber(mostSeconds))
      ->capture_default_str();
  return command;
}

static int runCommandLine(int argc, char **argv) {
  CLI::App app("runs schedules that meshplan compiled", "meshplan-run");
  app.set_version_flag("--version", "meshplan-run " MESHPLAN_VERSION);
  app.require_subcommand(1);
  RunOptions options;

  CLI::App *forward = app.add_subcommand("forward", "computes the outputs of a batch");
  addCommonOptions(*forward, options);
  addProgramOptions(*forward, options);
  addWeights(*forward, options, "safetensors file, directory with an index, or .pt2")->required();
  forward->add_option("--inputs", options.inputs, "safetensors file with the inputs by name")->required();
  forward->add_option("--outputs", options.outputs, "safetensors file to write")->required();

  CLI::App *bench = app.add_subcommand("bench", "measures the seconds of a step");
  addCommonOptions(*bench, options);
  addProgramOptions(*bench, options);
  addWeights(*bench, options, "as for forward; without it, small random numbers");
  bench->add_option(
      "--inputs", options.inputs,
      "as for forward; without it, small random numbers for real inputs, random 0 and 1 for integer ones");
  bench->add_option("--steps", options.steps, "steps to measure, after one that is not measured")
      ->check(positiveInteger(mostSteps))
      ->capture_default_str();

  CLI::App *train = app.add_subcommand("train", "trains a model on a data set");
  addCommonOptions(*train, options);
  addTrainOptions(*train, options);

  CLI::App *verify = app.add_subcommand("verify", "compares a step, or a forward pass, with LibTorch on one rank");
  addCommonOptions(*verify, options);
  addWeights(*verify, options, "as for forward")->required();
  verify->add_option("--inputs", options.inputs, "as for forward")->required();

  CLI::App *evaluating = addEval(app, options);
  ExportCommandOptions exportOptions;
  CLI::App *exporting = addExport(app, exportOptions);

  CalibrateOptions calibration;
  CLI::App *calibrating = addCalibrate(app, options, calibration);

  auto nearest = [](const std::string &name, const std::vector<std::string> &candidates) {
    return nearestNames(name, candidates);
  };
  if (std::optional<int> status = parseCommandLine(app, argc, argv, nearest))
    return *status;
  removeTemporaryFilesOnSignal();
  catchMapFaults();
  // A file that exceeds the size limit of the process causes a write error instead of ending the process.
  std::signal(SIGXFSZ, SIG_IGN);
  if (train->parsed())
    return runTrain(options);
  if (evaluating->parsed())
    return runEval(options);
  if (exporting->parsed())
    return runExport(exportOptions);
  if (calibrating->parsed())
    return runCalibrate(options, calibration);
  if (verify->parsed())
    return runVerify(options);
  return forward->parsed() ? runForward(options) : runBench(options);
}

int main(int argc, char **argv) {
  waitPassively(argc, argv);
  return runProgram("meshplan-run", [&] { return runCommandLine(argc, argv); });
}
