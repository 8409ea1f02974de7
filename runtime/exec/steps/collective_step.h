//===- collective_step.h - starting and finishing a collective ---*- C++ -*-===//
//
// Communicators move flat buffers. Where the pieces do not lie one after the
// other in the tensors (an inner dim, a dim with parts) they are packed before
// and unpacked after; everywhere else the tensors themselves are the buffers.
//
// A max or min that the group does not reduce is gathered and taken here.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_RUNTIME_EXEC_STEPS_COLLECTIVE_STEP_H
#define MESHPLAN_RUNTIME_EXEC_STEPS_COLLECTIVE_STEP_H

#include "runtime/comm/communicator.h"
#include "runtime/exec/pieces.h"
#include "runtime/exec/steps/step.h"

namespace meshplan {

/// Starts the collective and keeps its buffers until it is finished.
class StartStep final : public Step {
public:
  /// `instruction` is a Start; it and `group` must outlive the step.
  StartStep(const RankView &view, const artifact::Instruction &instruction, Pieces pieces, Group &group);

  Status run(std::span<Tensor> values) override;
  std::string name() const override;

  /// Waits, and stores the output.
  Status finish(std::span<Tensor> values);

private:
  struct Flight {
    Tensor outgoing, incoming;
    Pending pending; // last: it goes first, while its buffers still exist
  };

  Expected<Flight> takeOff(std::span<Tensor> values);
  std::vector<int64_t> incomingShape() const;
  Expected<Pending> start(const Flight &flight);
  Expected<Pending> startGather(const Flight &flight);
  Expected<Tensor> land(Flight &flight);
  const artifact::Start &action() const { return *instruction.action_as_Start(); }
  Reduction reduction() const;

  RankView view;
  const artifact::Instruction &instruction;
  Pieces pieces;
  Group &group;
  std::vector<int64_t> outputShape;
  bool takesExtreme; ///< of what all ranks of the group give
  CollectiveLabel label;
  Flight flight;
};

/// Fails when the group cannot do the collective; see piecesOf.
Expected<std::unique_ptr<StartStep>> prepareStart(const RankView &view, const artifact::Instruction &instruction,
                                                  Group &group);

/// Waits for the collective of `start`, which must outlive the step.
std::unique_ptr<Step> makeWaitStep(StartStep *start);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_EXEC_STEPS_COLLECTIVE_STEP_H
