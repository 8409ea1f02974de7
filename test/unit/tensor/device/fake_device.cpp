//===- fake_device.cpp - a GPU for tests without a GPU --------------------===//

#include "test/unit/tensor/device/fake_device.h"

#include <ATen/EmptyTensor.h>
#include <ATen/ops/as_strided_native.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <deque>
#include <functional>
#include <map>
#include <torch/library.h>

namespace {

constexpr c10::DispatchKeySet keys(c10::DispatchKey::CUDA);

c10::Device device() { return {c10::DeviceType::CUDA, 0}; }

/// What is enqueued on each stream, and the stream on which the thread enqueues.
std::map<c10::StreamId, std::deque<std::function<void()>>> &streams() {
  static std::map<c10::StreamId, std::deque<std::function<void()>>> enqueued;
  return enqueued;
}

c10::StreamId &current() {
  static c10::StreamId id = 0;
  return id;
}

void runNext(c10::StreamId id) {
  std::function<void()> next = std::move(streams()[id].front());
  streams()[id].pop_front();
  next();
}

void synchronize(c10::StreamId id) {
  while (!streams()[id].empty())
    runNext(id);
}

/// The versions of an event that were enqueued, and that the stream has reached.
struct Mark {
  c10::StreamId stream = 0;
  int recorded = 0, reached = 0;

  void wait(int version) const {
    while (reached < version)
      runNext(stream);
  }
};

using SharedMark = std::shared_ptr<Mark>;

const SharedMark &markOf(void *event) { return *static_cast<SharedMark *>(event); }

struct Guard final : c10::impl::NoOpDeviceGuardImpl<c10::DeviceType::CUDA> {
  c10::Device exchangeDevice(c10::Device) const override { return device(); }
  c10::Device getDevice() const override { return device(); }
  c10::Stream getStream(c10::Device) const noexcept override { return streamOf(current()); }
  c10::Stream exchangeStream(c10::Stream stream) const noexcept override {
    return streamOf(std::exchange(current(), stream.id()));
  }
  c10::Stream getStreamFromGlobalPool(c10::Device, bool) const override {
    static c10::StreamId last = 0;
    return streamOf(++last);
  }
  void synchronizeStream(const c10::Stream &stream) const override { synchronize(stream.id()); }

  void record(void **event, const c10::Stream &stream, c10::DeviceIndex, c10::EventFlag) const override {
    if (!*event)
      *event = new SharedMark(std::make_shared<Mark>());
    SharedMark mark = markOf(*event);
    mark->stream = stream.id();
    streams()[stream.id()].push_back([mark, version = ++mark->recorded] { mark->reached = version; });
  }
  void block(void *event, const c10::Stream &stream) const override {
    SharedMark mark = markOf(event);
    streams()[stream.id()].push_back([mark, version = mark->recorded] { mark->wait(version); });
  }
  bool queryEvent(void *event) const override { return markOf(event)->reached == markOf(event)->recorded; }
  void synchronizeEvent(void *event) const override { markOf(event)->wait(markOf(event)->recorded); }
  void destroyEvent(void *event, c10::DeviceIndex) const noexcept override { delete static_cast<SharedMark *>(event); }

private:
  static c10::Stream streamOf(c10::StreamId id) { return c10::Stream(c10::Stream::UNSAFE, device(), id); }
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
  streams()[current()].push_back([self, source] { elements(self).copy_(elements(source)); });
  if (!nonBlocking)
    synchronize(current());
  return self;
}

at::Scalar number(const at::Tensor &self) {
  synchronize(current());
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
