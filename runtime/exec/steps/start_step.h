//===- start_step.h - started collectives and copies ------------*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_EXEC_STEPS_START_STEP_H
#define MESHPLAN_RUNTIME_EXEC_STEPS_START_STEP_H

#include "runtime/comm/communicator.h"
#include "runtime/exec/rank_view.h"
#include "runtime/exec/steps/step.h"

namespace meshplan {

/// Starts a collective or a copy when it runs, and keeps its buffers until `finish`.
class StartStep : public Step {
public:
  /// Waits for it and stores the output.
  virtual Status finish(std::span<Tensor> values) = 0;

  /// True if the wait is for other ranks.
  virtual bool movesBetweenRanks() const { return true; }
  /// When the last `finish` found that it had moved its bytes, as far as that is known.
  virtual std::optional<MoveInterval> lastMove() const { return std::nullopt; }
};

/// The name of a collective's kind in messages: "all-gather".
std::string_view kindName(artifact::CollectiveKind kind);

Reduction reductionOf(artifact::Reduction reduction);

/// Waits for what `start` has started; `start` must outlive the step.
std::unique_ptr<Step> makeWaitStep(StartStep *start);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_EXEC_STEPS_START_STEP_H
