//===- fake_nccl.cpp - NCCL without devices -------------------------------===//

#include "test/lib/fake_nccl/fake_nccl.h"

#include "test/lib/fake_nccl/clique.h"
#include "test/lib/fake_nccl/fake_cuda.h"

#include <algorithm>
#include <cstring>
#include <functional>

using namespace meshplan;

namespace {

/// A rank's communicator. Belongs to the rank's thread, but for what kernels share.
struct FakeCommunicator {
  std::shared_ptr<Clique> clique;
  int rank;
  bool made = false;
  int64_t collectives = 0;
  std::function<void()> deferred; ///< what has not been launched
  bool connects = false;          ///< it needs all ranks
  int polls = 0;                  ///< until it is
  std::shared_ptr<FakeEvent> last = std::make_shared<FakeEvent>();
};

FakeCommunicator &of(ncclComm_t handle) { return *reinterpret_cast<FakeCommunicator *>(handle); }

/// Those that are being made, by id.
struct Registry {
  std::mutex mutex;
  int64_t ids = 0;
  std::map<int64_t, std::weak_ptr<Clique>> cliques;
};

Registry &registry() {
  static Registry instance;
  return instance;
}

/// Calls between the start and the end of a group, by communicator.
struct OpenGroup {
  int depth = 0;
  struct Calls {
    ncclComm_t communicator;
    cudaStream_t stream;
    std::vector<FakeCall> calls;
  };
  std::vector<Calls> calls;
};

OpenGroup &group() {
  thread_local OpenGroup instance;
  return instance;
}

void defer(const OpenGroup::Calls &calls) {
  FakeCommunicator &communicator = of(calls.communicator);
  FakeStream &stream = fakeStreamOf(calls.stream);
  communicator.connects = std::ranges::any_of(calls.calls, [](const FakeCall &call) { return !call.isPair(); });
  if (communicator.connects)
    communicator.clique->connect(communicator.rank);
  communicator.polls = static_cast<int>((communicator.rank * 7 + communicator.collectives) % 4);
  communicator.deferred = [&stream, calls = calls.calls, clique = communicator.clique, rank = communicator.rank,
                           last = communicator.last] {
    stream.push([calls, clique, rank] { clique->run(rank, calls); });
    last->record(stream);
  };
}

ncclResult_t endGroup() {
  OpenGroup &open = group();
  if (--open.depth > 0)
    return ncclSuccess;
  std::vector<OpenGroup::Calls> all = std::exchange(open.calls, {});
  for (const OpenGroup::Calls &calls : all)
    defer(calls);
  return all.empty() ? ncclSuccess : ncclInProgress;
}

ncclResult_t call(FakeCall next, ncclComm_t handle, cudaStream_t stream) {
  FakeCommunicator &communicator = of(handle);
  if (!communicator.made || communicator.deferred)
    return ncclInvalidUsage;
  if (!next.isPair())
    next.number = communicator.collectives++;
  OpenGroup &open = group();
  ++open.depth;
  auto found = std::ranges::find(open.calls, handle, &OpenGroup::Calls::communicator);
  if (found == open.calls.end())
    found = open.calls.insert(found, {handle, stream, {}});
  found->calls.push_back(next);
  return endGroup();
}

ncclResult_t init(ncclComm_t *handle, int size, ncclUniqueId id, int rank, ncclConfig_t *config) {
  if (config->blocking != 0)
    return ncclInvalidArgument;
  int64_t number;
  std::memcpy(&number, id.internal, sizeof(number));
  std::lock_guard lock(registry().mutex);
  std::weak_ptr<Clique> &known = registry().cliques[number];
  std::shared_ptr<Clique> clique = known.lock();
  if (!clique)
    known = clique = std::make_shared<Clique>(size);
  clique->join();
  *handle = reinterpret_cast<ncclComm_t>(new FakeCommunicator{std::move(clique), rank});
  return ncclInProgress;
}

ncclResult_t poll(ncclComm_t handle, ncclResult_t *state) {
  FakeCommunicator &communicator = of(handle);
  communicator.made = communicator.made || communicator.clique->isComplete();
  if (communicator.deferred && --communicator.polls < 0 &&
      (!communicator.connects || communicator.clique->isConnected()))
    std::exchange(communicator.deferred, nullptr)();
  *state = communicator.made && !communicator.deferred ? ncclSuccess : ncclInProgress;
  return ncclSuccess;
}

ncclResult_t abort(ncclComm_t handle) {
  of(handle).clique->abort(of(handle).rank);
  delete &of(handle);
  return ncclSuccess;
}

ncclResult_t destroy(ncclComm_t handle) {
  FakeCommunicator &communicator = of(handle);
  if (communicator.deferred)
    return ncclInvalidUsage;
  while (!communicator.last->hasPassed())
    std::this_thread::yield();
  delete &communicator;
  return ncclSuccess;
}

/// Buffers for registration, and the communicators that know them.
struct Buffers {
  std::mutex mutex;
  std::map<void *, size_t> sizes;
  std::map<void *, std::pair<ncclComm_t, void *>> known; // by handle
  int64_t handles = 0;
};

Buffers &buffers() {
  static Buffers instance;
  return instance;
}

ncclResult_t allocate(void **memory, size_t size) {
  std::lock_guard lock(buffers().mutex);
  *memory = ::operator new(size);
  buffers().sizes[*memory] = size;
  return ncclSuccess;
}

/// A buffer that a communicator knows is still in use.
ncclResult_t release(void *memory) {
  std::lock_guard lock(buffers().mutex);
  bool isKnown = std::ranges::any_of(buffers().known, [&](const auto &each) { return each.second.second == memory; });
  if (isKnown || buffers().sizes.erase(memory) == 0)
    return ncclInvalidUsage;
  ::operator delete(memory);
  return ncclSuccess;
}

ncclResult_t registerBuffer(ncclComm_t communicator, void *memory, size_t size, void **handle) {
  std::lock_guard lock(buffers().mutex);
  auto found = buffers().sizes.find(memory);
  if (found == buffers().sizes.end() || found->second < size)
    return ncclInvalidArgument;
  *handle = reinterpret_cast<void *>(++buffers().handles);
  buffers().known[*handle] = {communicator, memory};
  return ncclSuccess;
}

ncclResult_t deregisterBuffer(ncclComm_t communicator, void *handle) {
  std::lock_guard lock(buffers().mutex);
  auto found = buffers().known.find(handle);
  if (found == buffers().known.end() || found->second.first != communicator)
    return ncclInvalidArgument;
  buffers().known.erase(found);
  return ncclSuccess;
}

} // namespace

FakeBuffers meshplan::fakeBuffers() {
  std::lock_guard lock(buffers().mutex);
  return {static_cast<int64_t>(buffers().sizes.size()), static_cast<int64_t>(buffers().known.size()),
          buffers().handles};
}

NcclApi meshplan::fakeNccl() {
  using Kind = FakeCall::Kind;
  NcclApi api = {};
  api.cuda = fakeCuda();
  api.getUniqueId = [](ncclUniqueId *id) {
    std::lock_guard lock(registry().mutex);
    int64_t number = registry().ids++;
    std::memcpy(id->internal, &number, sizeof(number));
    return ncclSuccess;
  };
  api.commInitRankConfig = init;
  api.commGetAsyncError = poll;
  api.commAbort = abort;
  api.commDestroy = destroy;
  api.groupStart = [] {
    ++group().depth;
    return ncclSuccess;
  };
  api.groupEnd = endGroup;
  api.allReduce = [](const void *input, void *output, size_t count, ncclDataType_t type, ncclRedOp_t operation,
                     ncclComm_t handle, cudaStream_t stream) {
    return call({Kind::allReduce, input, output, count, type, operation}, handle, stream);
  };
  api.allGather = [](const void *input, void *output, size_t count, ncclDataType_t type, ncclComm_t handle,
                     cudaStream_t stream) {
    return call({Kind::allGather, input, output, count, type}, handle, stream);
  };
  api.reduceScatter = [](const void *input, void *output, size_t count, ncclDataType_t type, ncclRedOp_t operation,
                         ncclComm_t handle, cudaStream_t stream) {
    return call({Kind::reduceScatter, input, output, count, type, operation}, handle, stream);
  };
  api.broadcast = [](const void *input, void *output, size_t count, ncclDataType_t type, int root, ncclComm_t handle,
                     cudaStream_t stream) {
    return call({Kind::broadcast, input, output, count, type, ncclSum, root}, handle, stream);
  };
  api.reduce = [](const void *input, void *output, size_t count, ncclDataType_t type, ncclRedOp_t operation, int root,
                  ncclComm_t handle, cudaStream_t stream) {
    return call({Kind::reduce, input, output, count, type, operation, root}, handle, stream);
  };
  api.send = [](const void *input, size_t count, ncclDataType_t type, int peer, ncclComm_t handle,
                cudaStream_t stream) {
    return call({Kind::send, input, nullptr, count, type, ncclSum, peer}, handle, stream);
  };
  api.recv = [](void *output, size_t count, ncclDataType_t type, int peer, ncclComm_t handle, cudaStream_t stream) {
    return call({Kind::receive, nullptr, output, count, type, ncclSum, peer}, handle, stream);
  };
  api.getErrorString = [](ncclResult_t code) -> const char * {
    return code == ncclRemoteError ? "remote process exited" : code == ncclInvalidUsage ? "invalid usage" : "error";
  };
  api.memAlloc = allocate;
  api.memFree = release;
  api.commRegister = registerBuffer;
  api.commDeregister = deregisterBuffer;
  api.getLastError = [](ncclComm_t) -> const char * { return ""; };
  return api;
}
