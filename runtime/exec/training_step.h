//===- training_step.h - the programs of one step ----------------*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_EXEC_TRAINING_STEP_H
#define MESHPLAN_RUNTIME_EXEC_TRAINING_STEP_H

#include "runtime/exec/executor.h"

namespace meshplan {

/// One rank of a training step: the programs that microbatches run, as often as they say, and the program `step`. They
/// share parameters, inputs and accumulators. Belongs to the thread of its rank.
class TrainingStep {
public:
  /// As Executor::create of each of them. `notFound` when the schedule has no program `step`.
  static Expected<TrainingStep> create(const Artifact &artifact, World &world);

  /// Reads the rank's slices. Both are needed before `run`; inputs are those of a whole step.
  Status loadParameters(const Feed &feed);
  Status loadInputs(const Feed &feed);

  /// Numbers of the run, as Executor::setNumber, in every program that has the setting.
  Status setNumber(std::string_view name, double number);

  /// Runs one step. A failure ends the run of all ranks.
  Status run(Trace *trace = nullptr);

  /// The program `step`, which holds parameters and states and gives the outputs.
  Executor &step() { return *last; }
  const Executor &step() const { return *last; }

private:
  struct Pass {
    std::unique_ptr<Executor> program;
    int64_t runs = 0;
  };

  void share();

  std::vector<Pass> passes;
  std::unique_ptr<Executor> last;
};

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_EXEC_TRAINING_STEP_H
