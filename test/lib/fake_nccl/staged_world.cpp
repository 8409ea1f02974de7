//===- staged_world.cpp - a world for devices, over host buffers ----------===//

#include "test/lib/fake_nccl/staged_world.h"

#include "runtime/comm/nccl/api.h"
#include "runtime/comm/nccl/backoff.h"
#include "runtime/comm/nccl/flight.h"
#include "runtime/comm/threads/run_threads.h"
#include "test/lib/delays/start_on.h"
#include "test/lib/delays/wrapped_world.h"

#include <algorithm>
#include <numeric>

using namespace meshplan;

namespace {

struct Device {
  const NcclApi &api;
  cudaStream_t compute;
};

int64_t sum(const std::vector<int64_t> &counts) { return std::accumulate(counts.begin(), counts.end(), int64_t(0)); }

int64_t inputCount(const Collective &collective, int64_t index) {
  switch (collective.kind) {
  case CollectiveKind::allGather:
    return collective.receiveCounts[index];
  case CollectiveKind::receive:
  case CollectiveKind::barrier:
    return 0;
  default:
    return collective.sendCounts.empty() ? collective.count : sum(collective.sendCounts);
  }
}

int64_t outputCount(const Collective &collective, int64_t index) {
  switch (collective.kind) {
  case CollectiveKind::reduceScatter:
    return collective.sendCounts[index];
  case CollectiveKind::send:
  case CollectiveKind::barrier:
    return 0;
  default:
    return collective.receiveCounts.empty() ? collective.count : sum(collective.receiveCounts);
  }
}

/// A buffer on the device.
class DeviceBuffer {
public:
  DeviceBuffer(Device device, size_t bytes) : device(device), bytes(bytes) {
    // One byte more, so that empty buffers have distinct addresses.
    require(device.api.cuda.malloc(&address, bytes + 1));
  }
  DeviceBuffer(const DeviceBuffer &) = delete;
  ~DeviceBuffer() {
    (void)sync();
    (void)device.api.cuda.free(address);
  }

  void *get() const { return address; }

  Status copyFrom(const void *source) { return bytes == 0 ? Status() : copy(address, source, cudaMemcpyHostToDevice); }
  Status copyTo(void *target) {
    if (bytes == 0)
      return Status();
    MESHPLAN_RETURN_IF_ERROR(copy(target, address, cudaMemcpyDeviceToHost));
    return sync();
  }

private:
  static void require(cudaError_t code) {
    if (code != cudaSuccess)
      throw std::bad_alloc();
  }

  Status copy(void *target, const void *source, cudaMemcpyKind kind) {
    return cudaStatus(device.api.cuda, device.api.cuda.memcpyAsync(target, source, bytes, kind, device.compute));
  }

  /// Waits for the work of the compute stream.
  Status sync() {
    DeviceEvent event(device.api.cuda);
    MESHPLAN_RETURN_IF_ERROR(event.record(device.compute));
    bool passed = pollFor(std::chrono::seconds(60), [&] {
      auto state = event.hasPassed();
      return !state || *state;
    });
    return passed ? Status() : Status(StatusCode::timeout, "the device does not end");
  }

  Device device;
  size_t bytes;
  void *address = nullptr;
};

class StagedPending final : public PendingCollective {
public:
  StagedPending(World &world, std::shared_ptr<DeviceBuffer> input, std::shared_ptr<DeviceBuffer> output, void *target,
                Pending pending)
      : world(world), input(std::move(input)), output(std::move(output)), target(target), pending(std::move(pending)) {}

  Status wait() override { return wait(world.timeout()); }
  Status wait(std::chrono::milliseconds limit) override {
    if (!settled)
      result = waitOnce(limit);
    settled = true;
    return result;
  }
  std::vector<int64_t> missing() override { return pending->missing(); }

private:
  Status waitOnce(std::chrono::milliseconds limit) {
    MESHPLAN_RETURN_IF_ERROR(pending->wait(limit));
    MESHPLAN_RETURN_IF_ERROR(world.synchronize(limit));
    return target ? output->copyTo(target) : Status();
  }

  World &world;
  std::shared_ptr<DeviceBuffer> input, output;
  void *target;
  bool settled = false;
  Status result;
  Pending pending; // last member: destroyed first
};

class StagedGroup final : public Group {
public:
  StagedGroup(Device device, World &world, std::unique_ptr<Group> inner)
      : Group(inner->name(), {inner->ranks().begin(), inner->ranks().end()}, inner->index()), device(device),
        world(world), inner(std::move(inner)) {}

  bool reduces(DType dtype, Reduction reduction) const override { return inner->reduces(dtype, reduction); }
  Status connectPairs() override { return inner->connectPairs(); }

private:
  Expected<Pending> start(Collective collective) override {
    int64_t size = dtypeSize(collective.dtype), produced = outputCount(collective, index());
    auto input = std::make_shared<DeviceBuffer>(device, inputCount(collective, index()) * size);
    auto output =
        collective.input == collective.output ? input : std::make_shared<DeviceBuffer>(device, produced * size);
    MESHPLAN_RETURN_IF_ERROR(input->copyFrom(collective.input));
    MESHPLAN_ASSIGN_OR_RETURN(Pending pending, startOn(*inner, collective, input->get(), output->get()));
    void *target = produced > 0 ? collective.output : nullptr;
    return Pending(
        std::make_unique<StagedPending>(world, std::move(input), std::move(output), target, std::move(pending)));
  }

  Device device;
  World &world;
  std::unique_ptr<Group> inner;
};

class StagedWorld final : public WrappedWorld {
public:
  StagedWorld(Device device, World &inner) : WrappedWorld(inner), device(device) {}

  World &host() override { return inner.host(); }

private:
  Expected<std::unique_ptr<Group>> makeGroup(std::vector<int64_t> ranks, std::string name, int64_t) override {
    MESHPLAN_ASSIGN_OR_RETURN(auto group, inner.createGroup(std::move(ranks), std::move(name)));
    return std::unique_ptr<Group>(std::make_unique<StagedGroup>(device, inner, std::move(group)));
  }

  Device device;
};

} // namespace

/// More ranks than GPUs share GPUs, which NCCL itself refuses.
static int deviceOf(const NcclApi &api, const World &host) {
  return static_cast<int>(host.rank()) % std::max(1, deviceCountOf(api.cuda));
}

Status meshplan::runStagedRank(const NcclApi &api, World &host, cudaStream_t compute, const RankBody &body) {
  return runNccl(api, host, {deviceOf(api, host), compute}, [&](World &world) {
    StagedWorld staged({api, compute}, world);
    return body(staged);
  });
}

std::vector<Status> meshplan::runStaged(const NcclApi &api, int64_t size, std::chrono::milliseconds timeout,
                                        const RankBody &body) {
  return runThreads(size, {.timeout = timeout, .onStuck = nullptr}, [&](World &host) -> Status {
    MESHPLAN_RETURN_IF_ERROR(cudaStatus(api.cuda, api.cuda.setDevice(deviceOf(api, host))));
    MESHPLAN_ASSIGN_OR_RETURN(DeviceStream compute, DeviceStream::create(api.cuda));
    return runStagedRank(api, host, compute.get(), body);
  });
}
