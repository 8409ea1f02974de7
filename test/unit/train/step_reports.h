//===- step_reports.h - reports of steps for sinks --------------*- C++ -*-===//

#ifndef MESHPLAN_TEST_UNIT_TRAIN_STEP_REPORTS_H
#define MESHPLAN_TEST_UNIT_TRAIN_STEP_REPORTS_H

#include "runtime/train/report.h"

namespace meshplan {

/// A report with every optional value.
inline StepReport wholeReport(int64_t step, int64_t lastStep) {
  StepReport report;
  report.step = step;
  report.lastStep = lastStep;
  report.loss = 2.5;
  report.gradientNorm = 1.25;
  report.lossScale = 1024;
  report.rates = {{"optimizer.lr", 3e-4}};
  report.samples = 8;
  report.tokens = 8192;
  report.seconds = 0.5;
  report.dataSeconds = 0.125;
  report.exposedSeconds = 0.0625;
  report.peakBytes = 3 << 20;
  return report;
}

} // namespace meshplan

#endif // MESHPLAN_TEST_UNIT_TRAIN_STEP_REPORTS_H
