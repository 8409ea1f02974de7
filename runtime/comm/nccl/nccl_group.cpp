//===- nccl_group.cpp - a communicator between devices --------------------===//

#include "runtime/comm/nccl/nccl_group.h"

#include <utility>

using namespace meshplan;

namespace {

/// Memory of the device of the calling thread.
class DeviceBytes {
public:
  static Expected<DeviceBytes> allocate(const CudaApi &api, int64_t bytes) {
    void *address = nullptr;
    MESHPLAN_RETURN_IF_ERROR(cudaStatus(api, api.malloc(&address, static_cast<size_t>(bytes))));
    return DeviceBytes(api, address);
  }
  DeviceBytes(DeviceBytes &&other) noexcept : api(other.api), address(std::exchange(other.address, nullptr)) {}
  DeviceBytes &operator=(DeviceBytes &&) = delete;
  ~DeviceBytes() {
    if (address)
      (void)api->free(address);
  }

  std::byte *get() const { return static_cast<std::byte *>(address); }

private:
  DeviceBytes(const CudaApi &api, void *address) : api(&api), address(address) {}

  const CudaApi *api;
  void *address;
};

class NcclPending final : public PendingCollective {
public:
  NcclPending(NcclWorld &world, std::shared_ptr<Flight> flight) : world(world), flight(std::move(flight)) {}
  ~NcclPending() override;

  Status wait() override { return wait(world.timeout()); }
  Status wait(std::chrono::milliseconds limit) override;
  /// Unknown here: only World::synchronize finds out which ranks are missing.
  std::vector<int64_t> missing() override { return {}; }

private:
  NcclWorld &world;
  std::shared_ptr<Flight> flight;
  bool settled = false;
  Status result;
};

NcclPending::~NcclPending() {
  if (settled)
    return;
  // A collective that the device has finished needs its buffers no longer, even if the rank never waited for it.
  auto passed = flight->done.hasPassed();
  if (!passed || !*passed)
    world.abort(Status(StatusCode::peerLost, flight->what + ": ended before its wait"));
}

Status NcclPending::wait(std::chrono::milliseconds limit) {
  if (!settled)
    result = world.order(*flight, limit);
  settled = true;
  return result;
}

} // namespace

Expected<std::unique_ptr<Registration>> NcclGroup::registerBuffer(void *buffer, int64_t bytes) {
  auto registration = communicator.registerBuffer(buffer, bytes);
  if (!registration)
    return world.fail(registration.status().withContext("rank " + std::to_string(ranks()[index()])));
  return registration;
}

Status NcclGroup::connectPairs() {
  if (size() == 1)
    return Status();
  // NCCL connects two ranks at their first send and receive, and the launch waits for both of them.
  const CollectiveLabel label{.sequence = -1, .origin = "connecting the ranks"};
  auto bytes = DeviceBytes::allocate(world.cuda(), 2 * size());
  if (!bytes)
    return world.fail(bytes.status().withContext("rank " + std::to_string(ranks()[index()])));
  std::vector<int64_t> ones(size(), 1);
  MESHPLAN_RETURN_IF_ERROR(waitFor(startAllToAll(bytes->get(), ones, bytes->get() + size(), ones, DType::u8, label)));
  return world.synchronize();
}

Expected<Pending> NcclGroup::start(Collective collective) {
  // NCCL has no barrier; the hosts have one.
  if (collective.kind == CollectiveKind::barrier)
    return hosts->startBarrier(std::move(collective.label));
  std::string what = "rank " + std::to_string(ranks()[index()]) + ": " + describe(collective, name());
  if (Status status = checkReduction(collective); !status.ok())
    return status.withContext(what);
  auto flight = std::make_shared<Flight>(world.cuda(), std::move(what), communicator);
  MESHPLAN_RETURN_IF_ERROR(world.start(flight, collective));
  return Pending(std::make_unique<NcclPending>(world, std::move(flight)));
}
