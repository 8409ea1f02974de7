//===- nccl_group.h - a communicator between devices ------------*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_COMM_NCCL_NCCL_GROUP_H
#define MESHPLAN_RUNTIME_COMM_NCCL_NCCL_GROUP_H

#include "runtime/comm/nccl/nccl_world.h"

namespace meshplan {

class NcclGroup final : public Group {
public:
  /// `hosts` has the same ranks. The world owns the communicator, because it ends all communicators together.
  NcclGroup(NcclWorld &world, NcclCommunicator &communicator, std::unique_ptr<Group> hosts)
      : Group(hosts->name(), {hosts->ranks().begin(), hosts->ranks().end()}, hosts->index()), world(world),
        communicator(communicator), hosts(std::move(hosts)) {}

  bool reduces(DType dtype, Reduction reduction) const override { return checkReduction(dtype, reduction).ok(); }

  Expected<std::unique_ptr<Registration>> registerBuffer(void *buffer, int64_t bytes) override;

  Status connectPairs() override;

private:
  Expected<Pending> start(Collective collective) override;

  NcclWorld &world;
  NcclCommunicator &communicator;
  std::unique_ptr<Group> hosts;
};

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_COMM_NCCL_NCCL_GROUP_H
