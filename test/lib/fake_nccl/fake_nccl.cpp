//===- fake_nccl.cpp - NCCL without devices -------------------------------===//

#include "test/lib/fake_nccl/fake_nccl.h"

#include "test/lib/fake_nccl/fake_buffers.h"
#include "test/lib/fake_nccl/fake_cuda.h"
#include "test/lib/fake_nccl/nccl_stand_in.h"

#include <algorithm>

using namespace meshplan;

namespace {

/// Calls are run as kernels of a stream.
class FakeCommunicator final : public StandInCommunicator {
public:
  using StandInCommunicator::StandInCommunicator;

private:
  void begin(cudaStream_t stream, std::vector<FakeCall> calls) override;
  ncclResult_t progress() override;
  void finish() override;

  FakeStream *stream = nullptr;
  std::vector<FakeCall> calls; // calls that have not been launched
  bool connects = false;       // it needs all ranks
  int polls = 0;               // number of polls until it is connected
  FakeEvent last;
};

void FakeCommunicator::begin(cudaStream_t handle, std::vector<FakeCall> next) {
  stream = &fakeStreamOf(handle);
  calls = std::move(next);
  connects = std::ranges::any_of(calls, [](const FakeCall &call) { return !call.isPair(); });
  if (connects)
    clique->connect(rank);
  polls = static_cast<int>((rank * 7 + collectives) % 4);
}

ncclResult_t FakeCommunicator::progress() {
  if (--polls >= 0 || (connects && !clique->isConnected()))
    return ncclInProgress;
  stream->push([calls = std::move(calls), clique = clique, rank = rank] { clique->run(rank, calls); });
  last.record(*stream);
  return ncclSuccess;
}

void FakeCommunicator::finish() {
  while (!last.hasPassed())
    std::this_thread::yield();
}

ncclResult_t init(ncclComm_t *handle, int size, ncclUniqueId id, int rank, ncclConfig_t *config) {
  return initStandIn(handle, size, id, *config, [rank](std::shared_ptr<Clique> clique) {
    return std::make_unique<FakeCommunicator>(std::move(clique), rank);
  });
}

} // namespace

NcclApi meshplan::fakeNccl() {
  NcclApi api = standInFunctions();
  api.cuda = fakeCuda();
  api.commInitRankConfig = init;
  api.memAlloc = [](void **memory, size_t size) { return allocateFakeBuffer(fakeCuda(), memory, size); };
  api.memFree = [](void *memory) { return freeFakeBuffer(fakeCuda(), memory); };
  return api;
}
