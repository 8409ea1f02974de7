//===- nccl_stand_in.cpp - common parts of stand-ins for NCCL -------------===//

#include "test/lib/fake_nccl/nccl_stand_in.h"

#include "test/lib/fake_nccl/fake_buffers.h"

#include <algorithm>
#include <cstring>
#include <utility>

using namespace meshplan;

namespace {

StandInCommunicator &of(ncclComm_t handle) { return *reinterpret_cast<StandInCommunicator *>(handle); }

/// Communicators that are being created, by id.
struct Registry {
  std::mutex mutex;
  int64_t ids = 0;
  std::map<int64_t, std::weak_ptr<Clique>> cliques;
};

Registry &registry() {
  static Registry instance;
  return instance;
}

ncclResult_t makeId(ncclUniqueId *id) {
  std::lock_guard lock(registry().mutex);
  int64_t number = registry().ids++;
  std::memcpy(id->internal, &number, sizeof(number));
  return ncclSuccess;
}

/// The calls of a group that has not ended, by communicator.
struct OpenGroup {
  int depth = 0;
  struct Calls {
    StandInCommunicator *communicator;
    cudaStream_t stream;
    std::vector<FakeCall> calls;
  };
  std::vector<Calls> calls;
};

OpenGroup &group() {
  thread_local OpenGroup instance;
  return instance;
}

ncclResult_t startGroup() {
  ++group().depth;
  return ncclSuccess;
}

ncclResult_t endGroup() {
  OpenGroup &open = group();
  if (--open.depth > 0)
    return ncclSuccess;
  std::vector<OpenGroup::Calls> all = std::exchange(open.calls, {});
  for (OpenGroup::Calls &calls : all)
    calls.communicator->launch(calls.stream, std::move(calls.calls));
  return all.empty() ? ncclSuccess : ncclInProgress;
}

ncclResult_t destroy(ncclComm_t handle) {
  ncclResult_t result = of(handle).destroy();
  if (result == ncclSuccess)
    delete &of(handle);
  return result;
}

ncclResult_t abort(ncclComm_t handle) {
  of(handle).abort();
  delete &of(handle);
  return ncclSuccess;
}

const char *errorString(ncclResult_t code) {
  switch (code) {
  case ncclRemoteError:
    return "remote process exited";
  case ncclInvalidUsage:
    return "invalid usage";
  case ncclUnhandledCudaError:
    return "unhandled cuda error";
  default:
    return "error";
  }
}

void addCollectives(NcclApi &api) {
  using Kind = FakeCall::Kind;
  api.allReduce = [](const void *input, void *output, size_t count, ncclDataType_t type, ncclRedOp_t operation,
                     ncclComm_t handle, cudaStream_t stream) {
    return of(handle).call({Kind::allReduce, input, output, count, type, operation}, stream);
  };
  api.allGather = [](const void *input, void *output, size_t count, ncclDataType_t type, ncclComm_t handle,
                     cudaStream_t stream) {
    return of(handle).call({Kind::allGather, input, output, count, type}, stream);
  };
  api.reduceScatter = [](const void *input, void *output, size_t count, ncclDataType_t type, ncclRedOp_t operation,
                         ncclComm_t handle, cudaStream_t stream) {
    return of(handle).call({Kind::reduceScatter, input, output, count, type, operation}, stream);
  };
  api.broadcast = [](const void *input, void *output, size_t count, ncclDataType_t type, int root, ncclComm_t handle,
                     cudaStream_t stream) {
    return of(handle).call({Kind::broadcast, input, output, count, type, ncclSum, root}, stream);
  };
  api.reduce = [](const void *input, void *output, size_t count, ncclDataType_t type, ncclRedOp_t operation, int root,
                  ncclComm_t handle, cudaStream_t stream) {
    return of(handle).call({Kind::reduce, input, output, count, type, operation, root}, stream);
  };
  api.send = [](const void *input, size_t count, ncclDataType_t type, int peer, ncclComm_t handle,
                cudaStream_t stream) {
    return of(handle).call({Kind::send, input, nullptr, count, type, ncclSum, peer}, stream);
  };
  api.recv = [](void *output, size_t count, ncclDataType_t type, int peer, ncclComm_t handle, cudaStream_t stream) {
    return of(handle).call({Kind::receive, nullptr, output, count, type, ncclSum, peer}, stream);
  };
}

} // namespace

ncclResult_t StandInCommunicator::call(FakeCall next, cudaStream_t stream) {
  if (!made || launching)
    return ncclInvalidUsage;
  if (!next.isPair())
    next.number = collectives++;
  OpenGroup &open = group();
  ++open.depth;
  auto found = std::ranges::find(open.calls, this, &OpenGroup::Calls::communicator);
  if (found == open.calls.end())
    found = open.calls.insert(found, {this, stream, {}});
  found->calls.push_back(next);
  return endGroup();
}

void StandInCommunicator::launch(cudaStream_t stream, std::vector<FakeCall> calls) {
  launching = true;
  begin(stream, std::move(calls));
}

ncclResult_t StandInCommunicator::poll(ncclResult_t *state) {
  made = made || clique->isComplete();
  ncclResult_t progressed = launching ? progress() : ncclSuccess;
  launching = launching && progressed != ncclSuccess;
  *state = made ? progressed : ncclInProgress;
  return ncclSuccess;
}

ncclResult_t StandInCommunicator::destroy() {
  if (launching)
    return ncclInvalidUsage;
  finish();
  return ncclSuccess;
}

ncclResult_t meshplan::initStandIn(ncclComm_t *handle, int size, const ncclUniqueId &id, const ncclConfig_t &config,
                                   const MakeCommunicator &make) {
  if (config.blocking != 0)
    return ncclInvalidArgument;
  int64_t number;
  std::memcpy(&number, id.internal, sizeof(number));
  std::lock_guard lock(registry().mutex);
  std::weak_ptr<Clique> &known = registry().cliques[number];
  std::shared_ptr<Clique> clique = known.lock();
  if (!clique)
    known = clique = std::make_shared<Clique>(size);
  clique->join();
  *handle = reinterpret_cast<ncclComm_t>(make(std::move(clique)).release());
  return ncclInProgress;
}

NcclApi meshplan::standInFunctions() {
  NcclApi api = {};
  api.getVersion = [](int *version) {
    *version = NCCL_VERSION_CODE;
    return ncclSuccess;
  };
  api.getUniqueId = makeId;
  api.commGetAsyncError = [](ncclComm_t handle, ncclResult_t *state) { return of(handle).poll(state); };
  api.commAbort = abort;
  api.commDestroy = destroy;
  api.groupStart = startGroup;
  api.groupEnd = endGroup;
  addCollectives(api);
  api.getErrorString = errorString;
  api.getLastError = [](ncclComm_t handle) { return handle ? of(handle).lastError() : ""; };
  api.commRegister = registerFakeBuffer;
  api.commDeregister = deregisterFakeBuffer;
  return api;
}
