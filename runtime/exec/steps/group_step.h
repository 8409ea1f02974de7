//===- group_step.h - a collective between start and end --------*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_EXEC_STEPS_GROUP_STEP_H
#define MESHPLAN_RUNTIME_EXEC_STEPS_GROUP_STEP_H

#include "runtime/exec/steps/start_step.h"

namespace meshplan {

/// What a collective reads and writes while it runs.
struct CollectiveBuffers {
  Tensor outgoing, incoming;
  Pending pending; // last member: destroyed first, while its buffers exist
};

/// Starts a collective of a group, holds its buffers until it has ended, and stores what has arrived. Subclasses say
/// what it sends, where it receives, and what is made of that.
class GroupStep : public StartStep {
public:
  /// `instruction` is a Start. It and the group must outlive the step.
  GroupStep(const RankView &view, const artifact::Instruction &instruction, Group &group);

  Status run(std::span<Tensor> values) final;
  Status finish(std::span<Tensor> values) final;
  std::optional<MoveInterval> lastMove() const final { return interval; }
  std::string name() const override;

protected:
  /// Finds out what moves, where that is known only now. Its failures are reported as they are.
  virtual Status measure(std::span<const Tensor> /*values*/) { return Status(); }
  /// The buffers. A failure gets the context of the instruction.
  virtual Expected<CollectiveBuffers> makeBuffers(std::span<const Tensor> values) = 0;
  virtual Expected<Pending> start(const CollectiveBuffers &buffers) = 0;
  /// The output, of what has arrived. A failure gets the context of the instruction.
  virtual Expected<Tensor> outputOf(Tensor incoming) const { return incoming; }

  const artifact::Start &action() const { return *instruction.action_as_Start(); }
  Status inContext(Status status) const;

  RankView view;
  const artifact::Instruction &instruction;
  Group &group;
  CollectiveLabel label;

private:
  CollectiveBuffers buffers;
  std::optional<MoveInterval> interval; ///< of the last finished run
};

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_EXEC_STEPS_GROUP_STEP_H
