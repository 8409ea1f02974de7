//===- evaluation.h - the loss on held-out data -----------------*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_TRAIN_EVALUATION_H
#define MESHPLAN_RUNTIME_TRAIN_EVALUATION_H

#include "runtime/dataset/dataset_feed.h"
#include "runtime/exec/program_runner.h"
#include "runtime/train/report.h"

namespace meshplan {

/// One rank of the program `eval`, which reads the current parameters of a training. All ranks create one and run it at
/// the same points. Belongs to the thread of its rank.
class Evaluation {
public:
  /// `data` has the inputs of `eval` (see evaluationProgram). Each evaluation reads it from the beginning: the first
  /// `mostBatches` global batches, or with 0 all complete ones. It runs in the session of `training`.
  static Expected<Evaluation> create(const ProgramRunner &training, std::shared_ptr<const Dataset> data,
                                     int64_t mostBatches);

  /// The mean loss over the batches. The parameters of `training` do not change. First frees the values that
  /// the last training step has left, and at the end those of the last batch. `stops` is called before each batch and
  /// returns the same on all ranks; if it returns true, the result is nullopt.
  Expected<std::optional<EvaluationReport>> run(ProgramRunner &training, const std::function<Expected<bool>()> &stops);

private:
  Evaluation(ProgramRunner program, std::string loss, std::shared_ptr<const Dataset> data, int64_t batches)
      : program(std::move(program)), loss(std::move(loss)), data(std::move(data)), batches(batches) {}

  ProgramRunner program;
  std::string loss; // the output to compute
  std::shared_ptr<const Dataset> data;
  int64_t batches;
};

/// The program `eval` of a schedule; `notFound`, with a hint, if there is none.
Expected<const artifact::Program *> evaluationProgram(const artifact::Schedule &schedule);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_TRAIN_EVALUATION_H
