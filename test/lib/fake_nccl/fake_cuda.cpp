//===- fake_cuda.cpp - the CUDA runtime without a device ------------------===//

#include "test/lib/fake_nccl/fake_cuda.h"

#include <cstdlib>
#include <cstring>

using namespace meshplan;

static FakeEvent &eventOf(cudaEvent_t event) { return *reinterpret_cast<FakeEvent *>(event); }

static int &threadsDevice() {
  thread_local int device = 0;
  return device;
}

int meshplan::currentFakeDevice() { return threadsDevice(); }

FakeStream &meshplan::fakeStreamOf(cudaStream_t stream) { return *reinterpret_cast<FakeStream *>(stream); }

CudaApi meshplan::fakeCuda() {
  CudaApi api = {};
  api.getDeviceCount = [](int *count) {
    *count = fakeDeviceCount;
    return cudaSuccess;
  };
  api.setDevice = [](int device) {
    if (device < 0 || device >= fakeDeviceCount)
      return cudaErrorInvalidDevice;
    threadsDevice() = device;
    return cudaSuccess;
  };
  api.streamCreateWithFlags = [](cudaStream_t *stream, unsigned int) {
    *stream = reinterpret_cast<cudaStream_t>(new FakeStream());
    return cudaSuccess;
  };
  api.streamDestroy = [](cudaStream_t stream) {
    delete &fakeStreamOf(stream);
    return cudaSuccess;
  };
  api.streamWaitEvent = [](cudaStream_t stream, cudaEvent_t event, unsigned int) {
    eventOf(event).orderBefore(fakeStreamOf(stream));
    return cudaSuccess;
  };
  api.eventCreateWithFlags = [](cudaEvent_t *event, unsigned int) {
    *event = reinterpret_cast<cudaEvent_t>(new FakeEvent());
    return cudaSuccess;
  };
  api.eventDestroy = [](cudaEvent_t event) {
    delete &eventOf(event);
    return cudaSuccess;
  };
  api.eventRecord = [](cudaEvent_t event, cudaStream_t stream) {
    eventOf(event).record(fakeStreamOf(stream));
    return cudaSuccess;
  };
  api.eventQuery = [](cudaEvent_t event) { return eventOf(event).hasPassed() ? cudaSuccess : cudaErrorNotReady; };
  api.getErrorString = [](cudaError_t code) -> const char * {
    return code == cudaErrorInvalidDevice ? "invalid device ordinal" : "unknown error";
  };
  api.malloc = [](void **address, size_t bytes) {
    *address = std::malloc(bytes);
    return *address ? cudaSuccess : cudaErrorMemoryAllocation;
  };
  api.free = [](void *address) {
    std::free(address);
    return cudaSuccess;
  };
  api.memcpyAsync = [](void *target, const void *source, size_t bytes, cudaMemcpyKind, cudaStream_t stream) {
    fakeStreamOf(stream).push([=] { std::memcpy(target, source, bytes); });
    return cudaSuccess;
  };
  return api;
}
