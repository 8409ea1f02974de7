//===- nccl_through_host.cpp - NCCL for ranks that share a GPU ------------===//

#include "test/lib/one_gpu/nccl_through_host.h"

#include "runtime/comm/nccl/api.h"
#include "runtime/comm/nccl/backoff.h"
#include "runtime/comm/nccl/flight.h"
#include "test/lib/fake_nccl/fake_buffers.h"
#include "test/lib/fake_nccl/fake_stream.h"
#include "test/lib/fake_nccl/nccl_stand_in.h"

#include <atomic>

using namespace meshplan;

namespace {

CudaApi &cuda() {
  static CudaApi api = {};
  return api;
}

/// The sizes of a call's buffers as multiples of its count.
struct Extents {
  size_t input, output;
};

Extents extentsOf(const FakeCall &call, int rank, size_t size) {
  bool isRoot = call.peer == rank;
  switch (call.kind) {
  case FakeCall::Kind::allReduce:
    return {1, 1};
  case FakeCall::Kind::allGather:
    return {1, size};
  case FakeCall::Kind::reduceScatter:
    return {size, 1};
  case FakeCall::Kind::broadcast:
    return {isRoot ? 1u : 0u, 1};
  case FakeCall::Kind::reduce:
    return {1, isRoot ? 1u : 0u};
  case FakeCall::Kind::send:
    return {1, 0};
  case FakeCall::Kind::receive:
    break;
  }
  return {0, 1};
}

/// The buffers of a call, in host memory.
class HostCall {
public:
  HostCall(const FakeCall &call, int rank, int size) : device(call), onHost(call) {
    auto [inputs, outputs] = extentsOf(call, rank, static_cast<size_t>(size));
    input.resize(inputs * bytesOf(call));
    output.resize(outputs * bytesOf(call));
    onHost.input = input.data();
    onHost.output = output.data();
  }

  Status copyIn(cudaStream_t stream) {
    return copy(input.data(), device.input, input.size(), cudaMemcpyDeviceToHost, stream);
  }
  Status copyOut(cudaStream_t stream) {
    return copy(device.output, output.data(), output.size(), cudaMemcpyHostToDevice, stream);
  }
  const FakeCall &call() const { return onHost; }

private:
  static Status copy(void *target, const void *source, size_t bytes, cudaMemcpyKind kind, cudaStream_t stream) {
    return bytes == 0 ? Status() : cudaStatus(cuda(), cuda().memcpyAsync(target, source, bytes, kind, stream));
  }

  FakeCall device, onHost;
  std::vector<std::byte> input, output;
};

/// A separate thread moves the data, so that no rank waits for another one inside a call or has to poll for the others.
/// A call is in progress until its results are on the device. Meanwhile the stream gets no work, so it never waits for
/// something that a host has yet to do. So ranks may share a stream.
class CommunicatorThroughHost final : public StandInCommunicator {
public:
  using StandInCommunicator::StandInCommunicator;

  const char *lastError() const override { return ended ? failure.message().c_str() : ""; }

private:
  void begin(cudaStream_t stream, std::vector<FakeCall> calls) override;
  ncclResult_t progress() override;

  Status move(cudaStream_t stream, const std::vector<FakeCall> &calls);
  Status copyAll(std::vector<HostCall> &calls, Status (HostCall::*copy)(cudaStream_t), cudaStream_t stream);
  Status await(bool endsByAbort);

  DeviceEvent moment{cuda()}; // a point in the work of the rank's stream
  Status failure;
  std::atomic<bool> ended = false;
  FakeStream mover; // last member: it uses the others
};

void CommunicatorThroughHost::begin(cudaStream_t stream, std::vector<FakeCall> calls) {
  ended = false;
  // On the rank's thread, so that the event belongs to the rank's device.
  failure = moment.record(stream);
  mover.push([this, stream, calls = std::move(calls)] {
    if (failure.ok())
      failure = move(stream, calls);
    ended = true;
  });
}

ncclResult_t CommunicatorThroughHost::progress() {
  if (!ended)
    return ncclInProgress;
  return failure.ok() ? ncclSuccess : ncclUnhandledCudaError;
}

/// Returns when the stream has reached the point. Buffers of a copy are in use until then, in any case.
Status CommunicatorThroughHost::await(bool endsByAbort) {
  for (Backoff backoff;; backoff.rest()) {
    MESHPLAN_ASSIGN_OR_RETURN(bool passed, moment.hasPassed());
    if (passed || (endsByAbort && clique->isAborted(rank)))
      return Status();
  }
}

Status CommunicatorThroughHost::copyAll(std::vector<HostCall> &calls, Status (HostCall::*copy)(cudaStream_t),
                                        cudaStream_t stream) {
  Status copied;
  for (HostCall &call : calls)
    if (copied.ok())
      copied = (call.*copy)(stream);
  MESHPLAN_RETURN_IF_ERROR(moment.record(stream));
  MESHPLAN_RETURN_IF_ERROR(await(/*endsByAbort=*/false));
  return copied;
}

Status CommunicatorThroughHost::move(cudaStream_t stream, const std::vector<FakeCall> &calls) {
  MESHPLAN_RETURN_IF_ERROR(await(/*endsByAbort=*/true));
  if (clique->isAborted(rank))
    return Status();
  std::vector<HostCall> staged;
  staged.reserve(calls.size());
  for (const FakeCall &call : calls)
    staged.emplace_back(call, rank, clique->size);
  MESHPLAN_RETURN_IF_ERROR(copyAll(staged, &HostCall::copyIn, stream));
  std::vector<FakeCall> onHost;
  for (const HostCall &each : staged)
    onHost.push_back(each.call());
  clique->run(rank, onHost);
  return clique->isAborted(rank) ? Status() : copyAll(staged, &HostCall::copyOut, stream);
}

ncclResult_t init(ncclComm_t *handle, int size, ncclUniqueId id, int rank, ncclConfig_t *config) {
  return initStandIn(handle, size, id, *config, [rank](std::shared_ptr<Clique> clique) {
    return std::make_unique<CommunicatorThroughHost>(std::move(clique), rank);
  });
}

} // namespace

NcclApi meshplan::ncclThroughHost(const CudaApi &used) {
  cuda() = used;
  NcclApi api = standInFunctions();
  api.cuda = used;
  api.commInitRankConfig = init;
  api.memAlloc = [](void **memory, size_t size) { return allocateFakeBuffer(cuda(), memory, size); };
  api.memFree = [](void *memory) { return freeFakeBuffer(cuda(), memory); };
  return api;
}
