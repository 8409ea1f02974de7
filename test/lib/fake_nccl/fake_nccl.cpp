//===- fake_nccl.cpp - NCCL without devices -------------------------------===//

#include "test/lib/fake_nccl/fake_nccl.h"

#include "test/lib/fake_nccl/fake_buffers.h"
#include "test/lib/fake_nccl/fake_cuda.h"
#include "test/lib/fake_nccl/nccl_stand_in.h"

#include <array>
#include <atomic>
#include <cstdlib>
#include <string_view>

using namespace meshplan;

namespace {

FakeNcclOptions &options() {
  static FakeNcclOptions instance;
  return instance;
}

/// A device as far as kernels share it.
class FakeDevice {
public:
  int64_t addCommunicator() {
    std::lock_guard lock(mutex);
    return communicators++;
  }

  /// Appends a kernel to the stream.
  void launch(FakeStream &stream, FakeLaunch what, std::function<void()> kernel) {
    std::lock_guard lock(mutex);
    log.push_back(what);
    if (!options().isNarrow)
      return stream.push(std::move(kernel));
    stream.push([this, ticket = tickets++, kernel = std::move(kernel)] {
      std::unique_lock lock(mutex);
      changed.wait(lock, [&] { return done == ticket; });
      lock.unlock();
      kernel();
      lock.lock();
      ++done;
      changed.notify_all();
    });
  }

  std::vector<FakeLaunch> launches() {
    std::lock_guard lock(mutex);
    return log;
  }

  void forget() {
    std::lock_guard lock(mutex);
    log.clear();
    communicators = 0;
  }

private:
  std::mutex mutex;
  std::condition_variable changed;
  int64_t communicators = 0, tickets = 0, done = 0;
  std::vector<FakeLaunch> log;
};

std::array<FakeDevice, fakeDeviceCount> &devices() {
  static std::array<FakeDevice, fakeDeviceCount> instances;
  return instances;
}

/// Calls are run as kernels of a stream. Like NCCL's, the thread of the communicator launches them.
class FakeCommunicator final : public StandInCommunicator {
public:
  FakeCommunicator(std::shared_ptr<Clique> clique, int rank)
      : StandInCommunicator(std::move(clique), rank), device(devices()[currentFakeDevice()]),
        number(device.addCommunicator()) {}

private:
  void begin(cudaStream_t stream, std::vector<FakeCall> calls) override;
  ncclResult_t progress() override { return launched ? ncclSuccess : ncclInProgress; }
  void finish() override;

  FakeDevice &device;
  const int64_t number;
  int64_t launches = 0;
  std::atomic<bool> launched = true;
  FakeEvent last;
  FakeStream launcher; // last member: it uses the others
};

void FakeCommunicator::begin(cudaStream_t handle, std::vector<FakeCall> calls) {
  launched = false;
  launcher.push([this, &stream = fakeStreamOf(handle), calls = std::move(calls)] {
    if (options().beforeLaunch)
      options().beforeLaunch();
    if (clique->awaitConnections(rank, calls)) {
      device.launch(stream, {number, launches++}, [calls, clique = clique, rank = rank] { clique->run(rank, calls); });
      last.record(stream);
    }
    launched = true;
  });
}

void FakeCommunicator::finish() {
  while (!last.hasPassed())
    std::this_thread::yield();
}

ncclResult_t init(ncclComm_t *handle, int size, ncclUniqueId id, int rank, ncclConfig_t *config) {
  return initStandIn(handle, size, id, *config, [rank](std::shared_ptr<Clique> clique) {
    // As NCCL does with this setting.
    if (const char *late = std::getenv("NCCL_RUNTIME_CONNECT"); late && std::string_view(late) == "0")
      clique->connect(rank);
    return std::make_unique<FakeCommunicator>(std::move(clique), rank);
  });
}

} // namespace

std::vector<FakeLaunch> meshplan::fakeLaunches(int device) { return devices()[device].launches(); }

NcclApi meshplan::fakeNccl(FakeNcclOptions chosen) {
  options() = std::move(chosen);
  for (FakeDevice &device : devices())
    device.forget();
  // As openNccl does. A test that sets other values tests the stand-in.
  (void)prepareNcclEnvironment();
  NcclApi api = standInFunctions();
  api.cuda = fakeCuda();
  api.commInitRankConfig = init;
  api.memAlloc = [](void **memory, size_t size) { return allocateFakeBuffer(fakeCuda(), memory, size); };
  api.memFree = [](void *memory) { return freeFakeBuffer(fakeCuda(), memory); };
  return api;
}
