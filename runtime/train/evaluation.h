//===- evaluation.h - the loss on held-out data ------------------*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_TRAIN_EVALUATION_H
#define MESHPLAN_RUNTIME_TRAIN_EVALUATION_H

#include "runtime/dataset/dataset_feed.h"
#include "runtime/exec/program_runner.h"
#include "runtime/train/report.h"

namespace meshplan {

/// One rank of the program `eval`, which reads the parameters of a training as they are. All ranks make one and run it
/// at the same places. Belongs to the thread of its rank.
class Evaluation {
public:
  /// `data` has the inputs of `eval` (see evaluationProgram), and is read from its beginning each time: the first
  /// `mostBatches` global batches of it, or all that are whole for 0.
  static Expected<Evaluation> create(const Artifact &artifact, World &world, std::shared_ptr<const Dataset> data,
                                     int64_t mostBatches);

  /// The mean of the losses of the batches. `training` holds the parameters, which are left as they are; what its last
  /// step has left it lets go of, and what the batches leave goes at the end. Nothing where `stops`, which is asked
  /// before each batch and answers alike on all ranks, ends it.
  Expected<std::optional<EvaluationReport>> run(ProgramRunner &training, const std::function<Expected<bool>()> &stops);

private:
  Evaluation(ProgramRunner program, std::string loss, std::shared_ptr<const Dataset> data, int64_t batches)
      : program(std::move(program)), loss(std::move(loss)), data(std::move(data)), batches(batches) {}

  ProgramRunner program;
  std::string loss; // the output that is asked for
  std::shared_ptr<const Dataset> data;
  int64_t batches;
};

/// The program `eval` of a schedule; `notFound`, with the way out, if there is none.
Expected<const artifact::Program *> evaluationProgram(const artifact::Schedule &schedule);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_TRAIN_EVALUATION_H
