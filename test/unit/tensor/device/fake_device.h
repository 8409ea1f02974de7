//===- fake_device.h - a GPU for tests without a GPU -------------*- C++ -*-===//
//
// Tensors of cuda:0 whose elements lie in the memory of the host. LibTorch has
// no kernels for them but those that make and copy tensors. Copies from the host
// that do not block are made when somebody waits for the stream. For one thread
// of a program that does not open LibTorch's CUDA part.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_TEST_UNIT_TENSOR_DEVICE_FAKE_DEVICE_H
#define MESHPLAN_TEST_UNIT_TENSOR_DEVICE_FAKE_DEVICE_H

#include "runtime/tensor/compute_scope.h"

#include <ATen/ATen.h>

namespace meshplan {

/// The thread computes on the fake device.
struct FakeDeviceScope {
  ComputeScope compute{1, Device{DeviceKind::cuda, 0}};
};

/// A copy on the fake device.
inline at::Tensor onFakeDevice(const at::Tensor &tensor) { return tensor.to(c10::Device(c10::DeviceType::CUDA, 0)); }

} // namespace meshplan

#endif // MESHPLAN_TEST_UNIT_TENSOR_DEVICE_FAKE_DEVICE_H
