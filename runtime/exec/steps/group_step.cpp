//===- group_step.cpp - a collective between start and end ----------------===//

#include "runtime/exec/steps/group_step.h"

#include "runtime/exec/origin.h"
#include "runtime/exec/prepare.h"

#include <utility>

using namespace meshplan;

GroupStep::GroupStep(const RankView &view, const artifact::Instruction &instruction, Group &group)
    : view(view), instruction(instruction), group(group),
      label{.sequence = action().sequence(), .origin = originText(view.schedule(), instruction)} {}

std::string GroupStep::name() const {
  return std::string(kindName(action().kind())) + " " + std::to_string(action().sequence());
}

Status GroupStep::inContext(Status status) const {
  return std::move(status).withContext(instructionContext(view, name(), instruction));
}

Status GroupStep::run(std::span<Tensor> values) {
  MESHPLAN_RETURN_IF_ERROR(measure(values));
  auto next = makeBuffers(values);
  if (!next)
    return inContext(next.status());
  // The tensors are stored before the start, because the backend reads and writes their memory from then on.
  buffers = *std::move(next);
  MESHPLAN_ASSIGN_OR_RETURN(buffers.pending, start(buffers));
  return Status();
}

Status GroupStep::finish(std::span<Tensor> values) {
  // The step runs again in the next training step, so it must not keep the buffers.
  CollectiveBuffers ended = std::exchange(buffers, CollectiveBuffers());
  MESHPLAN_RETURN_IF_ERROR(ended.pending->wait());
  interval = ended.pending->interval();
  ended.outgoing = Tensor();
  auto output = outputOf(std::move(ended.incoming));
  if (!output)
    return inContext(output.status());
  values[action().output()] = *std::move(output);
  return Status();
}
