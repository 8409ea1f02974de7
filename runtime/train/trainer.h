//===- trainer.h - steps, and what goes on between them ----------*- C++ -*-===//
//
// The loop of a training run on one rank: batch, step, checkpoint, evaluation,
// report. Twin of what a Lightning Trainer or torchtitan's train.py does around
// a step. What the ranks must decide alike (to stop, to save) they agree on
// between steps, in one small all-reduce.
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

/// When things happen. Steps are counted from 1, over all runs of a training.
struct TrainSchedule {
  int64_t lastStep = 1;
  int64_t saveEvery = 0;     ///< 0: at the end only
  int64_t evaluateEvery = 0; ///< 0: before the first step and behind the last
};

/// What the training of a rank is made of. All of it outlives the trainer.
struct TrainParts {
  World *world;
  ProgramRunner *program; ///< the program `step`, with its parameters loaded
  DatasetFeed *batches;
  CheckpointWriter *checkpoints = nullptr;    ///< null: nothing is saved
  std::string checkpointFolder;               ///< that it writes into
  Evaluation *evaluation = nullptr;           ///< null: nothing is evaluated
  ReportSink *reports = nullptr;              ///< of rank 0, null on the others
  Trace *trace = nullptr;                     ///< notes the last step; null: nobody does
  bool isHostWaiting = true;                  ///< false where collectives are on devices: see Executor::waitedSeconds
  std::function<int64_t()> peakBytes;         ///< of the rank
  std::function<TrainingState()> stateToSave; ///< but for the counters
  std::function<const char *()> stopIsWished; ///< the name of a signal, or null; see stopRequest
};

class Trainer {
public:
  static Expected<std::unique_ptr<Trainer>> create(const TrainParts &parts, const TrainSchedule &schedule);

  /// Goes on until the last step is done or a stop is wished for, and saves. A failure names the step and ends the run
  /// of all ranks; checkpoints that are complete stay.
  Status run();

  /// The loss of the last step that was run here; nothing for none.
  std::optional<double> lastLoss() const { return loss; }

private:
  explicit Trainer(const TrainParts &parts, const TrainSchedule &schedule)
      : parts(parts), schedule(schedule), norm(parts.program->executor()) {}

  using Clock = std::chrono::steady_clock;

  int64_t done() const { return parts.program->executor().steps(); }
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
  int64_t samples = 0, tokens = 0; // of a step
  int64_t toldSaved = -1, evaluated = -1;
  std::string moment; // what is going on, for messages
  bool isStopped = false;
};

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_TRAIN_TRAINER_H
