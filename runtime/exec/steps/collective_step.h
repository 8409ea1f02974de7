//===- collective_step.h - collectives along dims ---------------*- C++ -*-===//
//
// Starts and finishes a collective along dims. Communicators move flat buffers. If the pieces are not consecutive in
// the tensors (an inner dim, a dim with parts), they are packed before and unpacked after; otherwise the tensors
// themselves are the buffers.
//
// A max or min that the group does not support is computed here from gathered addends.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_RUNTIME_EXEC_STEPS_COLLECTIVE_STEP_H
#define MESHPLAN_RUNTIME_EXEC_STEPS_COLLECTIVE_STEP_H

#include "runtime/exec/pieces.h"
#include "runtime/exec/steps/start_step.h"

namespace meshplan {

/// A collective along dims.
class CollectiveStep final : public StartStep {
public:
  /// `instruction` is a Start; it and `group` must outlive the step.
  CollectiveStep(const RankView &view, const artifact::Instruction &instruction, Pieces pieces, Group &group);

  Status run(std::span<Tensor> values) override;
  std::string name() const override;
  Status finish(std::span<Tensor> values) override;

private:
  struct Flight {
    Tensor outgoing, incoming;
    Pending pending; // last member: destroyed first, while its buffers exist
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
  bool takesExtreme; ///< computes max or min from gathered addends
  CollectiveLabel label;
  Flight flight;
};

/// The step of a Start, along dims or coalesced. Fails if the group cannot do the collective; see piecesOf.
Expected<std::unique_ptr<StartStep>> prepareStart(const RankView &view, const artifact::Instruction &instruction,
                                                  Group &group);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_EXEC_STEPS_COLLECTIVE_STEP_H
