//===- report.h - what a training run says of itself -------------*- C++ -*-===//
//
// The numbers of each step, evaluation and checkpoint, and who is told of them:
// a person, a log, TensorBoard. Only rank 0 reports.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_RUNTIME_TRAIN_REPORT_H
#define MESHPLAN_RUNTIME_TRAIN_REPORT_H

#include "runtime/base/status.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace meshplan {

/// One step. Seconds and bytes are those of the rank that has the most.
struct StepReport {
  int64_t step = 0, lastStep = 0; ///< counted from 1, over all runs that went before
  double loss = 0;
  std::optional<double> gradientNorm, lossScale;
  std::vector<std::pair<std::string, double>> rates; ///< learning rates by the name of their setting
  int64_t samples = 0, tokens = 0;                   ///< of all ranks; 0 tokens: inputs have none
  double seconds = 0;                                ///< from step to step, what follows included
  double dataSeconds = 0;                            ///< of these, to get the batch
  std::optional<double> exposedSeconds; ///< of these, waiting for collectives; nothing where the host does not wait
  double checkpointSeconds = 0;         ///< of these, for checkpoints
  int64_t peakBytes = 0;                ///< since the run began
  int64_t nonfinite = 0;                ///< elements of the gradients that were NaN or infinite: nothing was changed
};

struct EvaluationReport {
  int64_t step = 0; ///< that has been done
  double loss = 0;  ///< the mean over batches
  int64_t batches = 0, samples = 0;
  int64_t samplesThere = 0; ///< in the data set: those that do not fill a batch are left out
  double seconds = 0;
  std::optional<double> perplexity; ///< of a loss that is the mean cross entropy of classes
  std::string reason = {};          ///< why the loss is not a number, where that is known
};

/// A checkpoint that is whole.
struct CheckpointReport {
  int64_t step = 0; ///< after which it was made
  std::string path;
};

class ReportSink {
public:
  virtual ~ReportSink() = default;
  virtual Status step(const StepReport &report) = 0;
  virtual Status evaluation(const EvaluationReport &report) = 0;
  virtual Status checkpoint(const CheckpointReport &report) = 0;

  /// A sentence for a person, without a full stop.
  virtual Status note(const std::string &text) = 0;

  /// Nothing follows.
  virtual Status finish() = 0;
};

/// Tells all of them; the first failure counts.
class ReportSinks final : public ReportSink {
public:
  void add(std::unique_ptr<ReportSink> sink) { sinks.push_back(std::move(sink)); }
  Status step(const StepReport &report) override;
  Status evaluation(const EvaluationReport &report) override;
  Status checkpoint(const CheckpointReport &report) override;
  Status note(const std::string &text) override;
  Status finish() override;

private:
  std::vector<std::unique_ptr<ReportSink>> sinks;
};

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_TRAIN_REPORT_H
