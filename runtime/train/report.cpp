//===- report.cpp - reports of a training run -----------------------------===//

#include "runtime/train/report.h"

#include <algorithm>
#include <numeric>

using namespace meshplan;

/// The sum of all numbers, as a divisor.
static double sumOf(const std::vector<int64_t> &numbers) {
  return static_cast<double>(std::accumulate(numbers.begin(), numbers.end(), int64_t(0)));
}

std::pair<double, double> ExpertReport::extremes() const {
  double sum = sumOf(tokens);
  if (sum == 0)
    return {1, 1};
  auto [least, most] = std::ranges::minmax(tokens);
  double mean = sum / static_cast<double>(tokens.size());
  return {static_cast<double>(least) / mean, static_cast<double>(most) / mean};
}

double ExpertReport::droppedPart() const {
  return dropped == 0 ? 0 : static_cast<double>(dropped) / (sumOf(tokens) + static_cast<double>(dropped));
}

template <typename Tell>
static Status tellAll(const std::vector<std::unique_ptr<ReportSink>> &sinks, const Tell &tell) {
  for (const auto &sink : sinks)
    // The first failure ends the run, so the sinks after it are not told: a full disk is a reason to stop, not to train
    // on without a log.
    MESHPLAN_RETURN_IF_ERROR(tell(*sink));
  return Status();
}

Status ReportSinks::step(const StepReport &report) {
  return tellAll(sinks, [&](ReportSink &sink) { return sink.step(report); });
}

Status ReportSinks::evaluation(const EvaluationReport &report) {
  return tellAll(sinks, [&](ReportSink &sink) { return sink.evaluation(report); });
}

Status ReportSinks::checkpoint(const CheckpointReport &report) {
  return tellAll(sinks, [&](ReportSink &sink) { return sink.checkpoint(report); });
}

Status ReportSinks::note(const std::string &text) {
  return tellAll(sinks, [&](ReportSink &sink) { return sink.note(text); });
}

Status ReportSinks::finish() {
  return tellAll(sinks, [](ReportSink &sink) { return sink.finish(); });
}
