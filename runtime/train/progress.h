//===- progress.h - progress on the terminal --------------------*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_TRAIN_PROGRESS_H
#define MESHPLAN_RUNTIME_TRAIN_PROGRESS_H

#include "runtime/train/report.h"

#include <ostream>

namespace meshplan {

/// "1 h 02 min", "3 min 20 s", "45 s", "0.82 s", "7.5 ms".
std::string durationText(double seconds);

/// "12,345", "812", "8.21": at least three digits.
std::string rateText(double perSecond);

/// "1.25 GiB", "812 MiB", "14 KiB".
std::string bytesText(int64_t bytes);

/// "loss 4.9275  perplexity 138.03  (16 of 18 samples, 4.22 s)".
std::string evaluationText(const EvaluationReport &report);

/// Writes to `out`, which must outlive it. On a terminal, one line is overwritten by each step. Elsewhere it writes a
/// line for the first and the last step, and for the others at most one per second.
std::unique_ptr<ReportSink> makeProgress(std::ostream &out, bool isTerminal);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_TRAIN_PROGRESS_H
