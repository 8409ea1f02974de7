//===- flight.cpp - collectives in flight on a device ---------------------===//

#include "runtime/comm/nccl/flight.h"

#include "runtime/comm/nccl/api.h"

using namespace meshplan;

DeviceEvent::~DeviceEvent() {
  if (handle)
    (void)api.eventDestroy(handle);
}

Status DeviceEvent::record(cudaStream_t stream) {
  // Created here and not by the constructor, which could not report a failure. Without timing, which makes records and
  // queries slower.
  if (!handle)
    MESHPLAN_RETURN_IF_ERROR(cudaStatus(api, api.eventCreateWithFlags(&handle, cudaEventDisableTiming)));
  return cudaStatus(api, api.eventRecord(handle, stream));
}

Status DeviceEvent::orderBefore(cudaStream_t stream) { return cudaStatus(api, api.streamWaitEvent(stream, handle, 0)); }

Expected<bool> DeviceEvent::hasPassed() {
  if (!handle)
    return false;
  cudaError_t code = api.eventQuery(handle);
  if (code == cudaErrorNotReady)
    return false;
  MESHPLAN_RETURN_IF_ERROR(cudaStatus(api, code));
  return true;
}

Expected<DeviceStream> DeviceStream::create(const CudaApi &api) {
  cudaStream_t handle = nullptr;
  // Non-blocking: any other stream is synchronized with the default stream implicitly, and operators there would not
  // overlap with collectives.
  MESHPLAN_RETURN_IF_ERROR(cudaStatus(api, api.streamCreateWithFlags(&handle, cudaStreamNonBlocking)));
  return DeviceStream(api, handle);
}

DeviceStream::~DeviceStream() {
  if (handle)
    (void)api->streamDestroy(handle);
}
