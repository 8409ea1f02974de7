//===- device.h - where a rank computes --------------------------*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_TENSOR_DEVICE_H
#define MESHPLAN_RUNTIME_TENSOR_DEVICE_H

#include "runtime/base/status.h"

#include <cstdint>

namespace meshplan {

enum class DeviceKind : uint8_t { cpu, cuda };

struct Device {
  DeviceKind kind = DeviceKind::cpu;
  int index = 0; ///< of the GPU on this machine

  bool isHost() const { return kind == DeviceKind::cpu; }
};

/// GPUs of this machine; 0 without a driver. Opens the compute library's CUDA
/// part, which takes seconds, so only what needs it asks; call it before the
/// first tensor of the process. `unsupported` where that part is missing.
Expected<int> countCudaDevices();

/// Of the ComputeScope of the calling thread; the host without one.
Device deviceOfThread();

/// Where operators of the calling thread are enqueued, as the device's driver
/// knows it (a cudaStream_t). Null on the host.
void *computeStream();

/// Returns when what the calling thread has enqueued is done; at once on the host.
Status synchronizeCompute();

/// Largest number of bytes that tensors of the device have had, temporaries
/// included. 0 on the host, which has MemoryPool.
int64_t peakDeviceBytes(Device device);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_TENSOR_DEVICE_H
