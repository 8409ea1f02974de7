//===- fake_buffers.cpp - memory for registration -------------------------===//

#include "test/lib/fake_nccl/fake_buffers.h"

#include <algorithm>
#include <map>
#include <mutex>

using namespace meshplan;

namespace {

/// Buffers for registration, and the communicators that they are registered with.
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

} // namespace

FakeBuffers meshplan::fakeBuffers() {
  std::lock_guard lock(buffers().mutex);
  return {static_cast<int64_t>(buffers().sizes.size()), static_cast<int64_t>(buffers().known.size()),
          buffers().handles};
}

ncclResult_t meshplan::allocateFakeBuffer(const CudaApi &cuda, void **memory, size_t size) {
  if (cuda.malloc(memory, size) != cudaSuccess)
    return ncclUnhandledCudaError;
  std::lock_guard lock(buffers().mutex);
  buffers().sizes[*memory] = size;
  return ncclSuccess;
}

ncclResult_t meshplan::freeFakeBuffer(const CudaApi &cuda, void *memory) {
  {
    std::lock_guard lock(buffers().mutex);
    bool isKnown = std::ranges::any_of(buffers().known, [&](const auto &each) { return each.second.second == memory; });
    if (isKnown || buffers().sizes.erase(memory) == 0)
      return ncclInvalidUsage;
  }
  return cuda.free(memory) == cudaSuccess ? ncclSuccess : ncclUnhandledCudaError;
}

ncclResult_t meshplan::registerFakeBuffer(ncclComm_t communicator, void *memory, size_t size, void **handle) {
  std::lock_guard lock(buffers().mutex);
  auto found = buffers().sizes.find(memory);
  if (found == buffers().sizes.end() || found->second < size)
    return ncclInvalidArgument;
  *handle = reinterpret_cast<void *>(++buffers().handles);
  buffers().known[*handle] = {communicator, memory};
  return ncclSuccess;
}

ncclResult_t meshplan::deregisterFakeBuffer(ncclComm_t communicator, void *handle) {
  std::lock_guard lock(buffers().mutex);
  auto found = buffers().known.find(handle);
  if (found == buffers().known.end() || found->second.first != communicator)
    return ncclInvalidArgument;
  buffers().known.erase(found);
  return ncclSuccess;
}
