//===- collective_step.cpp - collectives along dims -----------------------===//

#include "runtime/exec/steps/collective_step.h"

#include "runtime/exec/origin.h"
#include "runtime/exec/prepare.h"
#include "runtime/exec/steps/bucket_step.h"
#include "runtime/exec/transfer.h"

#include <numeric>

using namespace meshplan;

/// True for a max or min that the group does not support and that is therefore computed here. NCCL's max and min of
/// floats drop NaN, which would hide a broken activation. The gather moves as many tensors as there are ranks, and
/// these are small: the row maxima of a softmax.
static bool isExtreme(const RankView &view, const artifact::Start &action, const Group &group) {
  bool reduces = action.kind() == artifact::CollectiveKind::all_reduce ||
                 action.kind() == artifact::CollectiveKind::reduce_scatter;
  Reduction reduction = reductionOf(action.reduction());
  return reduces && reduction != Reduction::sum && !group.reduces(view.dtype(action.input()), reduction);
}

CollectiveStep::CollectiveStep(const RankView &view, const artifact::Instruction &instruction, Pieces pieces,
                               Group &group)
    : view(view), instruction(instruction), pieces(std::move(pieces)), group(group),
      outputShape(view.shape(action().output())), takesExtreme(isExtreme(view, action(), group)),
      label{.sequence = action().sequence(), .origin = originText(view.schedule(), instruction)} {}

std::string CollectiveStep::name() const {
  return std::string(kindName(action().kind())) + " " + std::to_string(action().sequence());
}

Reduction CollectiveStep::reduction() const { return reductionOf(action().reduction()); }

/// Gives every rank all addends of its output, one after the other.
Expected<Pending> CollectiveStep::startGather(const Flight &flight) {
  const void *input = flight.outgoing.data();
  void *output = flight.incoming.data();
  DType dtype = flight.outgoing.dtype();
  if (action().kind() == artifact::CollectiveKind::all_reduce)
    return group.startAllGather(input, output, flight.outgoing.elementCount(), dtype, label);
  // A reduce-scatter becomes an all-to-all: each rank receives every rank's addend of its own piece. All these addends
  // have the size of this rank's output, whatever the sizes of other ranks' pieces are.
  std::vector<int64_t> counts(group.size(), flight.incoming.elementCount() / group.size());
  return group.startAllToAll(input, pieces.sendCounts, output, counts, dtype, label);
}

Expected<Pending> CollectiveStep::start(const Flight &flight) {
  if (takesExtreme)
    return startGather(flight);
  const void *input = flight.outgoing.data();
  void *output = flight.incoming.data();
  DType dtype = flight.outgoing.dtype();
  int64_t inputCount = flight.outgoing.elementCount(), outputCount = flight.incoming.elementCount();
  switch (action().kind()) {
  case artifact::CollectiveKind::all_gather:
    return group.startAllGather(input, output, pieces.receiveCounts, dtype, label);
  case artifact::CollectiveKind::reduce_scatter:
    return group.startReduceScatter(input, output, pieces.sendCounts, dtype, reduction(), label);
  case artifact::CollectiveKind::all_reduce:
    return group.startAllReduce(input, output, inputCount, dtype, reduction(), label);
  case artifact::CollectiveKind::all_to_all:
    return group.startAllToAll(input, pieces.sendCounts, output, pieces.receiveCounts, dtype, label);
  case artifact::CollectiveKind::permute:
    return group.startPermute(input, inputCount, pieces.sendTo, output, outputCount, pieces.receiveFrom, dtype, label);
  }
  return Status(StatusCode::internal, "a collective of unknown kind passed verification");
}

std::vector<int64_t> CollectiveStep::incomingShape() const {
  std::vector<int64_t> shape = outputShape;
  if (pieces.packing.unpacks)
    shape = {std::accumulate(pieces.receiveCounts.begin(), pieces.receiveCounts.end(), int64_t(0))};
  if (takesExtreme)
    // A first dim for the addends of all ranks, which is reduced at the wait.
    shape.insert(shape.begin(), group.size());
  return shape;
}

Expected<CollectiveStep::Flight> CollectiveStep::takeOff(std::span<Tensor> values) {
  Flight next;
  const Tensor &input = values[action().input()];
  // Backends move contiguous memory only.
  MESHPLAN_ASSIGN_OR_RETURN(next.outgoing, pieces.packing.packs ? pack(pieces.sends, input) : contiguous(input));
  MESHPLAN_ASSIGN_OR_RETURN(next.incoming, allocateTensor(incomingShape(), input.dtype()));
  return next;
}

Status CollectiveStep::run(std::span<Tensor> values) {
  auto next = takeOff(values);
  if (!next)
    return next.status().withContext(instructionContext(view, name(), instruction));
  // In the member before the start, because the backend uses the memory of both tensors from the start on.
  flight = *std::move(next);
  MESHPLAN_ASSIGN_OR_RETURN(flight.pending, start(flight));
  return Status();
}

Expected<Tensor> CollectiveStep::land(Flight &landing) {
  if (takesExtreme) {
    // The addends of all ranks lie along a first dim, which is reduced here.
    bool largest = reduction() == Reduction::max;
    MESHPLAN_ASSIGN_OR_RETURN(landing.incoming,
                              largest ? largestInFirstDim(landing.incoming) : leastInFirstDim(landing.incoming));
  }
  // The received elements are in the order of the output.
  if (!pieces.packing.unpacks)
    return std::move(landing.incoming);
  // To reduce peak memory: for a moment the received buffer and the output exist at the same time.
  landing.outgoing = Tensor();
  MESHPLAN_ASSIGN_OR_RETURN(Tensor output, allocateTensor(outputShape, landing.incoming.dtype()));
  MESHPLAN_RETURN_IF_ERROR(unpack(pieces.receives, landing.incoming, output));
  return output;
}

Status CollectiveStep::finish(std::span<Tensor> values) {
  Flight landing = std::exchange(flight, Flight());
  MESHPLAN_RETURN_IF_ERROR(landing.pending->wait());
  auto output = land(landing);
  if (!output)
    return output.status().withContext(instructionContext(view, name(), instruction));
  values[action().output()] = *std::move(output);
  return Status();
}

Expected<std::unique_ptr<StartStep>> meshplan::prepareStart(const RankView &view,
                                                            const artifact::Instruction &instruction, Group &group) {
  if (isBucket(*instruction.action_as_Start()))
    return prepareBucket(view, instruction, group);
  auto pieces = piecesOf(view, *instruction.action_as_Start(), group.ranks());
  if (!pieces) {
    std::string what = std::string(kindName(instruction.action_as_Start()->kind())) + " " +
                       std::to_string(instruction.action_as_Start()->sequence()) + " on '" + group.name() + "'";
    return pieces.status().withContext(instructionContext(view, what, instruction));
  }
  return std::unique_ptr<StartStep>(std::make_unique<CollectiveStep>(view, instruction, *std::move(pieces), group));
}
