//===- device.h - the device of a rank --------------------------*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_TENSOR_DEVICE_H
#define MESHPLAN_RUNTIME_TENSOR_DEVICE_H

#include "runtime/base/status.h"

#include <cstdint>

namespace meshplan {

enum class DeviceKind : uint8_t { cpu, cuda };

struct Device {
  DeviceKind kind = DeviceKind::cpu;
  int index = 0; ///< index of the GPU on this machine

  bool isHost() const { return kind == DeviceKind::cpu; }
};

/// Number of GPUs of this machine; 0 without a driver. Loads the compute library's CUDA part, which takes seconds, so
/// call it only if needed, and before the first tensor of the process. `unsupported` if that part is missing.
Expected<int> countCudaDevices();

/// The device of the ComputeScope of the calling thread; the host without one.
Device deviceOfThread();

/// The native stream (a cudaStream_t) on which operators of the calling thread are enqueued. Null on the host.
void *computeStream();

/// Waits until the work enqueued by the calling thread is done. Returns at once on the host.
Status synchronizeCompute();

/// Peak memory of tensors on the device, in bytes, including temporaries. 0 on the host, which has MemoryPool.
int64_t peakDeviceBytes(Device device);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_TENSOR_DEVICE_H
