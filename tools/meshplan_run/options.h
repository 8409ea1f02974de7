//===- options.h - the command line of meshplan-run --------------*- C++ -*-===//

#ifndef MESHPLAN_TOOLS_MESHPLAN_RUN_OPTIONS_H
#define MESHPLAN_TOOLS_MESHPLAN_RUN_OPTIONS_H

#include "runtime/schema/schedule_generated.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace meshplan {

/// Further options of `train`. Empty texts and 0 mean not given.
struct TrainOptions {
  std::vector<std::string> data, evaluationData, tokens;
  std::string checkpoint, resumeFrom, log, tensorboard;
  int64_t steps = 0;
  std::optional<int64_t> seed;
  int64_t every = 0, keep = 0; ///< 0: all are kept
  int64_t evaluateEvery = 0, evaluateBatches = 0;
  bool resume = false;

  bool continues() const { return resume || !resumeFrom.empty(); }
};

/// Further options of `eval`.
struct EvalOptions {
  std::vector<std::string> data, tokens;
  std::string checkpoint;
  int64_t batches = 0; ///< 0: all complete ones
};

/// Empty texts mean not given. An empty program means the one to verify.
struct RunOptions {
  std::string schedule, program = "forward", backend, weights, adapters, inputs, outputs, trace;
  std::vector<std::string> settings; ///< `name=number`
  double timeoutSeconds = 600;
  int64_t steps = 10;
  bool json = false;
  std::optional<artifact::ProgramRole> role; ///< the program by its role instead of its name
  TrainOptions train;
  EvalOptions eval;
};

/// Options of `export`, which runs no program.
struct ExportCommandOptions {
  std::string checkpoint, output, config, weights, dtype;
  bool adapters = false, json = false;
};

/// Options of `calibrate`, which runs no program.
struct CalibrateOptions {
  std::string output;
  int64_t ranks = 0;   ///< 0: those that a launcher has started, else one for each core
  double seconds = 40; ///< about as long
};

/// Each runs a subcommand, prints its result or its error, and returns the exit status.
int runForward(const RunOptions &options);
int runBench(const RunOptions &options);
int runVerify(const RunOptions &options);
int runTrain(const RunOptions &options);
int runEval(const RunOptions &options);
int runExport(const ExportCommandOptions &options);
int runCalibrate(const RunOptions &options, const CalibrateOptions &calibration);

} // namespace meshplan

#endif // MESHPLAN_TOOLS_MESHPLAN_RUN_OPTIONS_H
