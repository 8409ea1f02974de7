//===- device.cpp - the device of a thread, for LibTorch ------------------===//
//
// LibTorch's CUDA part is loaded by name and used through device-independent interfaces. So a program that links only
// the CPU part starts fast, and runs without CUDA.
//
//===----------------------------------------------------------------------===//

#include "runtime/tensor/torch/device.h"

#include "runtime/tensor/torch/guard.h"

#include <ATen/Context.h>
#include <c10/core/CachingDeviceAllocator.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <dlfcn.h>
#include <utility>

using namespace meshplan;

static Device &currentDevice() {
  thread_local Device device;
  return device;
}

Device meshplan::deviceOfThread() { return currentDevice(); }

Device meshplan::exchangeDeviceOfThread(Device device) { return std::exchange(currentDevice(), device); }

c10::Device meshplan::torchDevice(Device device) {
  return device.isHost() ? c10::Device(c10::DeviceType::CPU)
                         : c10::Device(c10::DeviceType::CUDA, static_cast<c10::DeviceIndex>(device.index));
}

/// Loading registers the CUDA operators with the dispatcher. Convolutions and recurrent layers of f32 are computed in
/// f32, like other products; by default LibTorch would round their operands to TF32, with 10 mantissa bits.
static Status openCudaPart() {
  if (dlopen("libtorch_cuda.so", RTLD_NOW | RTLD_GLOBAL)) {
    at::globalContext().setAllowTF32CuDNN(false);
    return Status();
  }
  return Status::error(StatusCode::unsupported,
                       "the schedule is for cuda, and LibTorch's CUDA part cannot be used: ", dlerror(),
                       "; help: compile with --device cpu");
}

Expected<int> meshplan::countCudaDevices() {
  static const Status opened = openCudaPart();
  MESHPLAN_RETURN_IF_ERROR(opened);
  return guarded([]() -> Expected<int> {
    const auto *implementation = c10::impl::device_guard_impl_registry[size_t(c10::DeviceType::CUDA)].load();
    return implementation ? static_cast<int>(implementation->deviceCount()) : 0;
  });
}

c10::Stream meshplan::computeStreamOf(Device device) {
  c10::Device own = torchDevice(device);
  return c10::impl::getDeviceGuardImpl(own.type())->getStream(own);
}

void *meshplan::computeStream() {
  Device device = deviceOfThread();
  return device.isHost()
             ? nullptr
             : c10::impl::getDeviceGuardImpl(c10::DeviceType::CUDA)->getStreamNativeHandle(computeStreamOf(device));
}

Status meshplan::synchronizeCompute() {
  Device device = deviceOfThread();
  if (device.isHost())
    return Status();
  return guarded([&]() -> Status {
    c10::impl::getDeviceGuardImpl(c10::DeviceType::CUDA)->synchronizeStream(computeStreamOf(device));
    return Status();
  });
}

int64_t meshplan::peakDeviceBytes(Device device) {
  if (device.isHost())
    return 0;
  // Fails if the device has never had a tensor.
  auto peak = guarded([&]() -> Expected<int64_t> {
    auto *allocator = c10::getDeviceAllocator(c10::DeviceType::CUDA);
    auto stats = allocator->getDeviceStats(static_cast<c10::DeviceIndex>(device.index));
    return stats.allocated_bytes[static_cast<size_t>(c10::CachingAllocator::StatType::AGGREGATE)].peak;
  });
  return peak ? *peak : 0;
}
