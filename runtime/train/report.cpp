//===- report.cpp - reports of a training run -----------------------------===//

#include "runtime/train/report.h"

using namespace meshplan;

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
