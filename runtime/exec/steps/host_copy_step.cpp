//===- host_copy_step.cpp - copies between device and host memory ---------===//

#include "runtime/exec/steps/host_copy_step.h"

#include "runtime/exec/prepare.h"
#include "runtime/tensor/memory.h"

#include <utility>

using namespace meshplan;

namespace {

class HostCopyStep final : public StartStep {
public:
  HostCopyStep(const RankView &view, const artifact::Instruction &instruction, CopyLanes &lanes)
      : view(view), instruction(instruction), shape(view.shape(action().output())), toHost(isToHost()),
        lane(toHost ? lanes.toHost : lanes.toDevice) {}

  Status run(std::span<Tensor> values) override {
    // The tensors are stored before the start, because the lane reads and writes their memory from then on.
    MESHPLAN_RETURN_IF_ERROR(inContext(takeOff(values)));
    auto pending = lane.start(flight.from, flight.into);
    MESHPLAN_RETURN_IF_ERROR(inContext(pending.status()));
    flight.pending = *std::move(pending);
    return Status();
  }

  Status finish(std::span<Tensor> values) override {
    // The step runs again in the next training step, so it must not keep the tensors.
    Flight landing = std::exchange(flight, Flight());
    MESHPLAN_RETURN_IF_ERROR(inContext(landing.pending->wait()));
    values[action().output()] = std::move(landing.into);
    return Status();
  }

  bool movesBetweenRanks() const override { return false; }

  std::string name() const override {
    return "copy " + std::to_string(action().sequence()) + (toHost ? " to the host" : " to the device");
  }

private:
  struct Flight {
    Tensor from, into;
    std::unique_ptr<PendingCopy> pending; // last member: destroyed first, while its tensors exist
  };

  const artifact::Copy &action() const { return *instruction.action_as_Copy(); }
  bool isToHost() const { return view.isOnHost(action().output()); }

  Status takeOff(std::span<const Tensor> values) {
    MESHPLAN_ASSIGN_OR_RETURN(flight.from, from(values));
    MESHPLAN_ASSIGN_OR_RETURN(flight.into, into(values));
    return Status();
  }

  /// A copy between two memories moves one run of memory. Other tensors are first brought into one, where they are.
  Expected<Tensor> from(std::span<const Tensor> values) const {
    HostScope host(!toHost);
    return contiguous(values[action().input()]);
  }

  Expected<Tensor> into(std::span<const Tensor> values) const {
    if (action().target() >= 0)
      return values[action().target()];
    HostScope host(toHost);
    return allocateTensor(shape, view.dtype(action().output()));
  }

  Status inContext(Status status) const {
    return status.ok() ? status : status.withContext(instructionContext(view, name(), instruction));
  }

  RankView view;
  const artifact::Instruction &instruction;
  std::vector<int64_t> shape;
  bool toHost;
  CopyLane &lane;
  Flight flight;
};

} // namespace

std::unique_ptr<StartStep> meshplan::prepareHostCopy(const RankView &view, const artifact::Instruction &instruction,
                                                     CopyLanes &lanes) {
  return std::make_unique<HostCopyStep>(view, instruction, lanes);
}
