//===- report.h - reports of a training run ---------------------*- C++ -*-===//
//
// The numbers of each step, evaluation and checkpoint, and their receivers: the terminal, a log, TensorBoard. Only rank
// 0 reports.
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

/// The tokens of one layer of experts in one step, over all ranks and microbatches.
struct ExpertReport {
  std::string module;          ///< "model.layers.0.mlp.experts"
  std::vector<int64_t> tokens; ///< of each expert
  int64_t dropped = 0;         ///< pairs of a token and an expert that `capacity` has dropped

  /// The tokens of the least and of the most chosen expert, relative to the mean over the experts; 1 if there are none.
  std::pair<double, double> extremes() const;
  /// The part of all pairs that is dropped.
  double droppedPart() const;
};

/// One step. Seconds and bytes are the maximum over the ranks.
struct StepReport {
  int64_t step = 0, lastStep = 0; ///< counted from 1, over all runs of the training
  double loss = 0;
  std::optional<double> gradientNorm, lossScale;
  std::vector<std::pair<std::string, double>> rates; ///< learning rates, by name of the setting
  int64_t samples = 0, tokens = 0;                   ///< of all ranks; 0 tokens: the inputs have none
  double seconds = 0;                                ///< of the whole iteration
  double dataSeconds = 0;                            ///< of these, to get the batch
  std::optional<double> exposedSeconds; ///< of these, exposed communication; nullopt: the host does not wait
  double checkpointSeconds = 0;         ///< of these, for checkpoints
  int64_t peakBytes = 0;                ///< peak memory since the run began
  std::vector<ExpertReport> experts;    ///< in program order; empty without layers of experts
  int64_t nonfinite = 0;                ///< non-finite elements of gradients; if any, nothing was changed
};

struct EvaluationReport {
  int64_t step = 0; ///< last finished step
  double loss = 0;  ///< mean over the batches
  int64_t batches = 0, samples = 0;
  int64_t samplesThere = 0; ///< in the data set; an incomplete batch is left out
  double seconds = 0;
  std::optional<double> perplexity; ///< if the loss is a mean cross entropy of classes
  std::string reason = {};          ///< why the loss is NaN, if known
};

/// A complete checkpoint.
struct CheckpointReport {
  int64_t step = 0; ///< the step after which it was written
  std::string path;
};

class ReportSink {
public:
  virtual ~ReportSink() = default;
  virtual Status step(const StepReport &report) = 0;
  virtual Status evaluation(const EvaluationReport &report) = 0;
  virtual Status checkpoint(const CheckpointReport &report) = 0;

  /// A sentence for the user, without a full stop.
  virtual Status note(const std::string &text) = 0;

  /// No more reports follow.
  virtual Status finish() = 0;
};

/// Reports to all sinks; returns the first failure.
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
