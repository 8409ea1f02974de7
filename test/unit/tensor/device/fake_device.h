//===- fake_device.h - a GPU for tests without a GPU ------------*- C++ -*-===//
//
// Tensors of cuda:0 whose elements are in host memory. LibTorch's only kernels for them create and copy tensors.
// Streams and events are as late as a device may be: what is enqueued on a stream, copies among it, runs when the host
// waits for the stream or for an event that comes later on it, or when another stream that runs waits for such an
// event. For a single thread of a program that does not open LibTorch's CUDA part.
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
