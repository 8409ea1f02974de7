//===- fake_device.cpp - a GPU for tests without a GPU --------------------===//

#include "test/unit/tensor/device/fake_device.h"

#include <ATen/EmptyTensor.h>
#include <ATen/ops/as_strided_native.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <functional>
#include <torch/library.h>

namespace {

constexpr c10::DispatchKeySet keys(c10::DispatchKey::CUDA);

c10::Device device() { return {c10::DeviceType::CUDA, 0}; }

/// Pending copies of the stream.
std::vector<std::function<void()>> &stream() {
  static std::vector<std::function<void()>> enqueued;
  return enqueued;
}

void synchronize() {
  for (const std::function<void()> &copy : std::exchange(stream(), {}))
    copy();
}

struct Guard final : c10::impl::NoOpDeviceGuardImpl<c10::DeviceType::CUDA> {
  c10::Device exchangeDevice(c10::Device) const override { return device(); }
  c10::Device getDevice() const override { return device(); }
  c10::Stream getStream(c10::Device) const noexcept override { return c10::Stream(c10::Stream::DEFAULT, device()); }
  void synchronizeStream(const c10::Stream &) const override { synchronize(); }
};
C10_REGISTER_GUARD_IMPL(CUDA, Guard)

class Allocator final : public c10::Allocator {
public:
  c10::DataPtr allocate(size_t bytes) override {
    void *memory = std::malloc(std::max<size_t>(bytes, 1));
    return {memory, memory, &std::free, device()};
  }
  c10::DeleterFnPtr raw_deleter() const override { return &std::free; }
  void copy_data(void *target, const void *source, size_t bytes) const override {
    default_copy_data(target, source, bytes);
  }
};

c10::Allocator *allocator() {
  static Allocator instance;
  return &instance;
}

at::Tensor empty(at::IntArrayRef sizes, std::optional<at::ScalarType> type, std::optional<at::Layout>,
                 std::optional<at::Device>, std::optional<bool>, std::optional<at::MemoryFormat> format) {
  return at::detail::empty_generic(sizes, allocator(), keys, type.value_or(at::kFloat), format);
}

at::Tensor emptyStrided(at::IntArrayRef sizes, at::IntArrayRef strides, std::optional<at::ScalarType> type,
                        std::optional<at::Layout>, std::optional<at::Device>, std::optional<bool>) {
  return at::detail::empty_strided_generic(sizes, strides, allocator(), keys, type.value_or(at::kFloat));
}

/// The same elements, as a host tensor.
at::Tensor elements(const at::Tensor &tensor) {
  return tensor.is_cpu()
             ? tensor
             : at::from_blob(tensor.data_ptr(), tensor.sizes(), tensor.strides(), tensor.options().device(at::kCPU));
}

at::Tensor &copy(at::Tensor &self, const at::Tensor &source, bool nonBlocking) {
  stream().push_back([self, source] { elements(self).copy_(elements(source)); });
  if (!nonBlocking || !source.is_cpu())
    synchronize();
  return self;
}

at::Scalar number(const at::Tensor &self) {
  synchronize();
  return elements(self).item();
}

TORCH_LIBRARY_IMPL(aten, CUDA, library) {
  library.impl("empty.memory_format", &empty);
  library.impl("empty_strided", &emptyStrided);
  library.impl("as_strided", &at::native::as_strided_tensorimpl);
  library.impl("copy_", &copy);
  library.impl("_local_scalar_dense", &number);
}

} // namespace
