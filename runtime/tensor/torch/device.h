//===- device.h - the device of a thread, for LibTorch ----------*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_TENSOR_TORCH_DEVICE_H
#define MESHPLAN_RUNTIME_TENSOR_TORCH_DEVICE_H

#include "runtime/tensor/device.h"

#include <c10/core/Device.h>

namespace meshplan {

/// Sets the device of deviceOfThread and returns the previous one.
Device exchangeDeviceOfThread(Device device);

c10::Device torchDevice(Device device);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_TENSOR_TORCH_DEVICE_H
