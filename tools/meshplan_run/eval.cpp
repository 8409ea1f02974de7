//===- eval.cpp - meshplan-run eval ---------------------------------------===//
//
// Evaluates the weights of a file, or the parameters of a checkpoint. The data is read in order and once, so that two
// evaluations of the same parameters give the same loss.
//
//===----------------------------------------------------------------------===//

#include "runtime/checkpoint/folder.h"
#include "runtime/checkpoint/integrity/last_intact.h"
#include "runtime/checkpoint/load.h"
#include "runtime/dataset/data_words.h"
#include "runtime/train/evaluation.h"
#include "runtime/train/progress.h"
#include "tools/meshplan_run/rank_run.h"

#include <cmath>
#include <cstdio>
#include <iostream>
#include <unistd.h>

using namespace meshplan;

namespace {

/// Opened once for all ranks of a process.
struct EvalInputs {
  std::string checkpoint; ///< a single checkpoint, not a folder of them; empty: weights only
  std::unique_ptr<Feed> weights;
  std::string weightsWarning; ///< of the file, see AdapterFeed
  std::shared_ptr<const Dataset> data;
};

Expected<EvalInputs> openInputs(const RunOptions &options, const Job &job) {
  EvalInputs inputs;
  if (!options.eval.checkpoint.empty()) {
    if (!options.adapters.empty())
      return Status(StatusCode::invalid,
                    "--checkpoint: the adapters are those of the checkpoint; help: leave out --adapters");
    auto found = findCheckpoint(options.eval.checkpoint);
    if (!found)
      return found.status().withContext("--checkpoint");
    inputs.checkpoint = *found;
  } else {
    MESHPLAN_ASSIGN_OR_RETURN(RankFeeds feeds, RankFeeds::open(options, job));
    inputs.weights = std::move(feeds.parameters);
    inputs.weightsWarning = std::move(feeds.warning);
  }
  MESHPLAN_ASSIGN_OR_RETURN(TokenOffsets tokens, parseTokenOffsets(options.eval.tokens));
  MESHPLAN_ASSIGN_OR_RETURN(inputs.data, Dataset::open(options.eval.data, inputsOf(*job.program),
                                                       {.shuffles = false, .tokens = std::move(tokens)}));
  return inputs;
}

/// Loads the evaluated parameters. Rank 0 reports conversions.
Status load(const RunOptions &options, const EvalInputs &inputs, RankRun &run) {
  if (inputs.checkpoint.empty())
    return run.program.loadParameters(*inputs.weights);
  auto loaded = loadCheckpoint(run.world, run.program, inputs.checkpoint, options.weights);
  if (!loaded)
    return withLastIntact(loaded.status(), inputs.checkpoint, options.eval.checkpoint);
  for (const std::string &note : loaded->notes)
    if (run.world.rank() == 0)
      std::cerr << "meshplan-run: note: " + note + "\n" << std::flush;
  return Status();
}

/// A line on a terminal with the number of batches that are done; it is overwritten in place.
class BatchProgress {
public:
  explicit BatchProgress(bool isShown) : isShown(isShown) {}
  ~BatchProgress() {
    if (isShown)
      std::fprintf(stderr, "\r\033[K");
  }

  void next() {
    if (isShown)
      std::fprintf(stderr, "\rbatch %lld", static_cast<long long>(++batch));
  }

private:
  bool isShown;
  int64_t batch = 0;
};

Status evaluate(const RunOptions &options, const Job &job, const EvalInputs &inputs, RankRun &run, bool isTerminal,
                EvaluationReport &result) {
  MESHPLAN_RETURN_IF_ERROR(load(options, inputs, run));
  run.warnOfWeights(inputs.weightsWarning);
  MESHPLAN_ASSIGN_OR_RETURN(Evaluation evaluation, Evaluation::create(run.program, inputs.data, options.eval.batches));
  BatchProgress progress(isTerminal && run.world.rank() == 0);
  auto stops = [&]() -> Expected<bool> {
    progress.next();
    return false;
  };
  MESHPLAN_ASSIGN_OR_RETURN(std::optional<EvaluationReport> report, evaluation.run(run.program, stops));
  if (run.world.rank() == 0)
    result = *report;
  return Status();
}

nlohmann::json jsonOf(const EvaluationReport &report, const EvalInputs &inputs, const RunOptions &options) {
  auto number = [](double value) { return std::isfinite(value) ? nlohmann::json(value) : nlohmann::json(); };
  bool isOfCheckpoint = !inputs.checkpoint.empty();
  nlohmann::json json = {{"program", "eval"},
                         {"loss", number(report.loss)},
                         {"perplexity", report.perplexity ? number(*report.perplexity) : nlohmann::json()},
                         {"batches", report.batches},
                         {"samples", report.samples},
                         {"samples_there", report.samplesThere},
                         {"seconds", report.seconds}};
  json["checkpoint"] = isOfCheckpoint ? nlohmann::json(inputs.checkpoint) : nlohmann::json();
  json["step"] = isOfCheckpoint ? nlohmann::json(report.step) : nlohmann::json();
  json["weights"] = options.weights;
  return json;
}

Status eval(const RunOptions &options, const Job &job, Ranks &ranks) {
  MESHPLAN_ASSIGN_OR_RETURN(EvalInputs inputs, openInputs(options, job));
  Reports reports;
  EvaluationReport result;
  auto body = [&](RankRun &run) -> Status {
    bool isTerminal = ranks.areAllHere() && ::isatty(STDERR_FILENO) != 0;
    MESHPLAN_RETURN_IF_ERROR(evaluate(options, job, inputs, run, isTerminal, result));
    return run.gather(reports);
  };
  MESHPLAN_RETURN_IF_ERROR(runRanks(options, job, ranks, body));
  if (!reports.here())
    return Status();
  if (options.json) {
    nlohmann::json json = jsonOf(result, inputs, options);
    json["memory"] = memoryJson(job, reports);
    // A file name need not be UTF-8, on which dump would throw.
    std::cout << json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) << "\n";
    return Status();
  }
  printMemory(job, reports);
  std::cout << (inputs.checkpoint.empty() ? options.weights : inputs.checkpoint) << ": " << evaluationText(result)
            << "\n";
  return Status();
}

} // namespace

int meshplan::runEval(const RunOptions &options) {
  RunOptions own = options;
  own.role = artifact::ProgramRole::eval;
  return runJob(own, [&](const Job &job, Ranks &ranks) { return eval(own, job, ranks); });
}
