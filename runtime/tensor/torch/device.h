//===- device.h - the device of a thread, for LibTorch ----------*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_TENSOR_TORCH_DEVICE_H
#define MESHPLAN_RUNTIME_TENSOR_TORCH_DEVICE_H

#include "runtime/tensor/device.h"

#include <c10/core/Device.h>
#include <c10/core/Stream.h>

namespace meshplan {

/// Sets the device of deviceOfThread and returns the previous one.
Device exchangeDeviceOfThread(Device device);

c10::Device torchDevice(Device device);

/// The stream on which operators of the calling thread are enqueued.
c10::Stream computeStreamOf(Device device);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_TENSOR_TORCH_DEVICE_H
