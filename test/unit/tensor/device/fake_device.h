//===- fake_device.h - a GPU for tests without a GPU ------------*- C++ -*-===//
//
// Tensors of cuda:0 whose elements are in host memory. LibTorch's only kernels for them create and copy tensors.
// Non-blocking copies from the host run when a thread waits for the stream. For a single thread of a program that does
// not open LibTorch's CUDA part.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_TEST_UNIT_TENSOR_DEVICE_FAKE_DEVICE_H
#define MESHPLAN_TEST_UNIT_TENSOR_DEVICE_FAKE_DEVICE_H

#include "runtime/tensor/compute_scope.h"

#include <ATen/ATen.h>

namespace meshplan {

/// Makes this thread compute on the fake device.
struct FakeDeviceScope {
  ComputeScope compute{1, Device{DeviceKind::cuda, 0}};
};

/// A copy on the fake device.
inline at::Tensor onFakeDevice(const at::Tensor &tensor) { return tensor.to(c10::Device(c10::DeviceType::CUDA, 0)); }

} // namespace meshplan

#endif // MESHPLAN_TEST_UNIT_TENSOR_DEVICE_FAKE_DEVICE_H
