//===- trainer.h - the training loop ----------------------------*- C++ -*-===//
//
// The loop of a training run on one rank: batch, step, checkpoint, evaluation, report. Twin of a Lightning Trainer or
// of torchtitan's train.py. Decisions that must be the same on all ranks (to stop, to save) are agreed between steps by
// one small all-reduce.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_RUNTIME_TRAIN_TRAINER_H
#define MESHPLAN_RUNTIME_TRAIN_TRAINER_H

#include "runtime/checkpoint/writer.h"
#include "runtime/dataset/dataset_feed.h"
#include "runtime/train/evaluation.h"
#include "runtime/train/gradient_norm.h"
#include "runtime/train/report.h"

namespace meshplan {

/// The schedule of the run. Steps are counted from 1, over all runs of a training.
struct TrainSchedule {
  int64_t lastStep = 1;
  int64_t saveEvery = 0;     ///< 0: only at the end
  int64_t evaluateEvery = 0; ///< 0: before the first step and after the last
};

/// The parts of a rank's training. All of them must outlive the trainer.
struct TrainParts {
  World *world;
  ProgramRunner *program; ///< the program `step`, with its parameters loaded
  DatasetFeed *batches;
  CheckpointWriter *checkpoints = nullptr;    ///< null: nothing is saved
  std::string checkpointFolder;               ///< the folder it writes to
  Evaluation *evaluation = nullptr;           ///< null: nothing is evaluated
  ReportSink *reports = nullptr;              ///< rank 0; null on the others
  Trace *trace = nullptr;                     ///< traces the last step; null: no trace
  bool isHostWaiting = true;                  ///< false if collectives run on devices; see Walk::waitedSeconds
  std::function<int64_t()> peakBytes;         ///< peak memory of the rank
  std::function<TrainingState()> stateToSave; ///< without the counters
  std::function<const char *()> stopIsWished; ///< the name of a signal, or null; see stopRequest
};

class Trainer {
public:
  static Expected<std::unique_ptr<Trainer>> create(const TrainParts &parts, const TrainSchedule &schedule);

  /// Runs until the last step is done or a stop is requested, then saves. A failure names the step and ends the run of
  /// all ranks; complete checkpoints stay.
  Status run();

  /// The loss of the last step of this run; nullopt if there was none.
  std::optional<double> lastLoss() const { return loss; }

private:
  explicit Trainer(const TrainParts &parts, const TrainSchedule &schedule)
      : parts(parts), schedule(schedule), norm(parts.program->walk()) {}

  using Clock = std::chrono::steady_clock;

  int64_t done() const { return parts.program->walk().steps(); }
  Status goOn();
  Status runStep();
  Status takeBatch(StepReport &report);
  Status takeNumbers(StepReport &report);
  Status explainNonfinite(std::string_view name, double number) const;
  std::string textOfIgnoredTargets() const;
  Status saveWhenDue(StepReport &report, bool isStopping);
  Status agree(StepReport &report, bool &stops);
  Status evaluate();
  Status tellSaved();
  Status saveLast();
  Status finish();
  Status note(const std::string &text) const { return parts.reports ? parts.reports->note(text) : Status(); }

  TrainParts parts;
  TrainSchedule schedule;
  GradientNorm norm;
  std::unique_ptr<Group> hosts;
  std::optional<double> loss;
  int64_t samples = 0, tokens = 0; // per step
  int64_t toldSaved = -1, evaluated = -1;
  std::string moment; // the current activity, for messages
  bool isStopped = false;
};

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_TRAIN_TRAINER_H
