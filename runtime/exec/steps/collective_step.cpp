//===- collective_step.cpp - collectives ----------------------------------===//

#include "runtime/exec/steps/collective_step.h"

#include "runtime/exec/prepare.h"
#include "runtime/exec/steps/group_step.h"

#include <utility>

using namespace meshplan;

namespace {

/// True for a max or min that the group does not support and that is therefore computed here. NCCL's max and min of
/// floats drop NaN, which would hide a broken activation. The gather moves as many tensors as there are ranks, and
/// these are small: the row maxima of a softmax.
bool isExtreme(const RankView &view, const artifact::Start &action, const Group &group) {
  bool reduces = action.kind() == artifact::CollectiveKind::all_reduce ||
                 action.kind() == artifact::CollectiveKind::reduce_scatter;
  Reduction reduction = reductionOf(action.reduction());
  return reduces && reduction != Reduction::sum && !group.reduces(view.dtype(action.input()), reduction);
}

class CollectiveStep final : public GroupStep {
public:
  CollectiveStep(const RankView &view, const artifact::Instruction &instruction, std::shared_ptr<const Pieces> pieces,
                 Group &group)
      : GroupStep(view, instruction, group), pieces(std::move(pieces)), takesExtreme(isExtreme(view, action(), group)) {
  }

private:
  Reduction reduction() const { return reductionOf(action().reduction()); }
  std::vector<int64_t> outputShape(std::span<const Tensor> values) const;
  Expected<Tensor> incoming(std::span<const Tensor> values) const;
  Expected<CollectiveBuffers> makeBuffers(std::span<const Tensor> values) override;
  Expected<Pending> start(const CollectiveBuffers &buffers) override;
  Expected<Pending> startGather(const CollectiveBuffers &buffers);
  Expected<Tensor> outputOf(Tensor incoming) const override;

  std::shared_ptr<const Pieces> pieces;
  bool takesExtreme; ///< computes max or min from gathered addends
};

} // namespace

std::vector<int64_t> CollectiveStep::outputShape(std::span<const Tensor> values) const {
  // A sum of rows has the shape of its addends, which follows from the choices of a router.
  if (isRows(view.value(action().output())))
    return {values[action().input()].shape().begin(), values[action().input()].shape().end()};
  if (isPacked(view.value(action().output())))
    return {pieces->received()};
  return view.shape(action().output());
}

/// Gives every rank all addends of its output, one after the other.
Expected<Pending> CollectiveStep::startGather(const CollectiveBuffers &buffers) {
  const void *input = buffers.outgoing.data();
  void *output = buffers.incoming.data();
  DType dtype = buffers.outgoing.dtype();
  if (action().kind() == artifact::CollectiveKind::all_reduce)
    return group.startAllGather(input, output, buffers.outgoing.elementCount(), dtype, label);
  // A reduce-scatter becomes an all-to-all: each rank receives every rank's addend of its own piece. All these addends
  // have the size of this rank's output, whatever the sizes of other ranks' pieces are.
  std::vector<int64_t> counts(group.size(), buffers.incoming.elementCount() / group.size());
  return group.startAllToAll(input, pieces->sendCounts, output, counts, dtype, label);
}

Expected<Pending> CollectiveStep::start(const CollectiveBuffers &buffers) {
  if (takesExtreme)
    return startGather(buffers);
  const void *input = buffers.outgoing.data();
  void *output = buffers.incoming.data();
  DType dtype = buffers.outgoing.dtype();
  switch (action().kind()) {
  case artifact::CollectiveKind::all_gather:
    return group.startAllGather(input, output, pieces->receiveCounts, dtype, label);
  case artifact::CollectiveKind::reduce_scatter:
    return group.startReduceScatter(input, output, pieces->sendCounts, dtype, reduction(), label);
  case artifact::CollectiveKind::all_reduce:
    // Not the planned number, which rows of experts may differ from.
    return group.startAllReduce(input, output, buffers.outgoing.elementCount(), dtype, reduction(), label);
  case artifact::CollectiveKind::all_to_all:
    return group.startAllToAll(input, pieces->sendCounts, output, pieces->receiveCounts, dtype, label);
  case artifact::CollectiveKind::permute:
    return group.startPermute(input, pieces->sent(), pieces->sendTo, output, pieces->received(), pieces->receiveFrom,
                              dtype, label);
  }
  return Status(StatusCode::internal, "a collective of unknown kind passed verification");
}

/// The memory into which the collective writes: the target, or a new tensor.
Expected<Tensor> CollectiveStep::incoming(std::span<const Tensor> values) const {
  std::vector<int64_t> shape = outputShape(values);
  if (takesExtreme)
    // A first dim for the addends of all ranks, which is reduced at the wait.
    shape.insert(shape.begin(), group.size());
  if (action().target() < 0)
    return allocateTensor(shape, view.dtype(action().output()));
  const Tensor &target = values[action().target()];
  // Otherwise the received elements would be written to a copy.
  return target.isContiguous()
             ? Expected<Tensor>(target)
             : Status::error(StatusCode::internal, "target ", action().target(), " is not contiguous");
}

Expected<CollectiveBuffers> CollectiveStep::makeBuffers(std::span<const Tensor> values) {
  CollectiveBuffers next;
  // Backends move contiguous memory only. The compiler packs what it knows to be strided; kernels of a device may
  // return other strides.
  MESHPLAN_ASSIGN_OR_RETURN(next.outgoing, contiguous(values[action().input()]));
  MESHPLAN_ASSIGN_OR_RETURN(next.incoming, incoming(values));
  return next;
}

Expected<Tensor> CollectiveStep::outputOf(Tensor incoming) const {
  if (!takesExtreme)
    return incoming;
  return reduction() == Reduction::max ? largestInFirstDim(incoming) : leastInFirstDim(incoming);
}

Expected<std::shared_ptr<const Pieces>>
meshplan::preparePieces(const RankView &view, const artifact::Instruction &instruction, const Group &group) {
  const artifact::Start &action = *instruction.action_as_Start();
  auto pieces = piecesOf(view, action, group.ranks());
  if (!pieces) {
    std::string what =
        std::string(kindName(action.kind())) + " " + std::to_string(action.sequence()) + " on '" + group.name() + "'";
    return pieces.status().withContext(instructionContext(view, what, instruction));
  }
  return std::make_shared<const Pieces>(*std::move(pieces));
}

Expected<std::unique_ptr<StartStep>> meshplan::prepareStart(const RankView &view,
                                                            const artifact::Instruction &instruction,
                                                            std::shared_ptr<const Pieces> pieces, bool isCopied,
                                                            Group &group) {
  const artifact::Start &action = *instruction.action_as_Start();
  bool sendsAsIs = !isCopied && pieces->needsPacking;
  if (sendsAsIs || (pieces->needsUnpacking && !isPacked(view.value(action.output()))))
    return Status(StatusCode::corrupted, instructionContext(view, kindName(action.kind()), instruction) +
                                             ": the pieces that it " + (sendsAsIs ? "sends" : "receives") +
                                             " do not follow one another in the tensor, and are not packed");
  return std::unique_ptr<StartStep>(std::make_unique<CollectiveStep>(view, instruction, std::move(pieces), group));
}
