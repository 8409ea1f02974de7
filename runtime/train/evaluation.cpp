//===- evaluation.cpp - the loss on held-out data -------------------------===//

#include "runtime/train/evaluation.h"

#include "runtime/train/class_loss.h"
#include "runtime/train/scalars.h"

#include <algorithm>
#include <chrono>
#include <cmath>

using namespace meshplan;

Expected<const artifact::Program *> meshplan::evaluationProgram(const artifact::Schedule &schedule) {
  auto program = findProgram(schedule, artifact::ProgramRole::eval);
  if (program)
    return program;
  return Status::error(program.status().code(), program.status().message(),
                       "; help: compile a plan with 'loss' and 'optimizer', or leave out --eval-data");
}

Expected<Evaluation> Evaluation::create(const ProgramRunner &training, std::shared_ptr<const Dataset> data,
                                        int64_t mostBatches) {
  const artifact::Schedule &schedule = training.walk().view().schedule();
  MESHPLAN_ASSIGN_OR_RETURN(const artifact::Program *program, evaluationProgram(schedule));
  MESHPLAN_ASSIGN_OR_RETURN(const artifact::Program *step, findProgram(schedule, artifact::ProgramRole::step));
  std::string loss = step->loss() ? step->loss()->str() : "";
  OutputNames asked{loss};
  MESHPLAN_ASSIGN_OR_RETURN(ProgramRunner runner,
                            ProgramRunner::create(training.walk().session(), schedule, *program, &asked));
  int64_t whole = data->samples() / data->batch().samples;
  int64_t batches = mostBatches > 0 ? std::min(mostBatches, whole) : whole;
  return Evaluation(std::move(runner), std::move(loss), std::move(data), batches);
}

Expected<std::optional<EvaluationReport>> Evaluation::run(ProgramRunner &training,
                                                          const std::function<Expected<bool>()> &stops) {
  auto begin = std::chrono::steady_clock::now();
  // Frees the batch and the outputs of the training step, so that evaluation fits into its memory.
  training.rest();
  const artifact::Program &own = program.walk().view().program();
  DatasetFeed feed(data, 0);
  EvaluationReport report{.step = training.walk().steps(), .batches = batches};
  for (int64_t batch = 0; batch < batches; ++batch) {
    MESHPLAN_ASSIGN_OR_RETURN(bool isStopped, stops());
    if (isStopped) {
      program.rest();
      return std::optional<EvaluationReport>();
    }
    MESHPLAN_RETURN_IF_ERROR(program.loadInputs(feed));
    feed.advance();
    MESHPLAN_RETURN_IF_ERROR(program.run());
    MESHPLAN_ASSIGN_OR_RETURN(double number, scalarOutput(program.walk(), loss));
    // Batches have equal size, so the mean of their means is the mean over all samples.
    report.loss += number / static_cast<double>(batches);
    // The loss is the mean over all ranks, so all of them find the same reason; only rank 0 reports it.
    if (std::isnan(number) && report.reason.empty())
      if (std::string text = textOfIgnored(own, *data, batch * data->batch().samples); !text.empty())
        report.reason = "batch " + std::to_string(batch) + ": " + text;
  }
  program.rest();
  report.samples = batches * data->batch().samples;
  report.samplesThere = data->samples();
  if (isMeanCrossEntropy(own, loss) && std::isfinite(report.loss))
    report.perplexity = std::exp(report.loss);
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return std::optional(report);
}
