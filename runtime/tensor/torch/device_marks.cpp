//===- device_marks.cpp - when a device passed its work, for LibTorch -----===//

#include "runtime/tensor/device_marks.h"

#include "runtime/tensor/torch/device.h"
#include "runtime/tensor/torch/guard.h"

#include <c10/core/impl/DeviceGuardImplInterface.h>

using namespace meshplan;

static const c10::impl::DeviceGuardImplInterface &cuda() {
  return *c10::impl::getDeviceGuardImpl(c10::DeviceType::CUDA);
}

DeviceMarks::DeviceMarks() : device(deviceOfThread()) {}

DeviceMarks::~DeviceMarks() {
  for (void *event : events)
    cuda().destroyEvent(event, torchDevice(device).index());
}

Status DeviceMarks::mark() {
  if (!device.isHost()) {
    MESHPLAN_RETURN_IF_ERROR(guarded([&]() -> Status {
      c10::Device own = torchDevice(device);
      void *event = nullptr;
      // This flag makes an event that has a time.
      cuda().record(&event, cuda().getStream(own), own.index(), c10::EventFlag::BACKEND_DEFAULT);
      events.push_back(event);
      return Status();
    }));
    // The first mark is a time of both clocks only if nothing is enqueued before it.
    if (events.size() == 1)
      MESHPLAN_RETURN_IF_ERROR(synchronizeCompute());
  }
  calls.push_back(Clock::now());
  return Status();
}

Expected<std::vector<DeviceMarks::Clock::time_point>> DeviceMarks::times() const {
  if (device.isHost() || events.empty())
    return calls;
  return guarded([&]() -> Expected<std::vector<Clock::time_point>> {
    cuda().synchronizeEvent(events.back());
    std::vector<Clock::time_point> passed;
    for (void *event : events) {
      std::chrono::duration<double, std::milli> since(
          cuda().elapsedTime(events.front(), event, torchDevice(device).index()));
      passed.push_back(calls.front() + std::chrono::duration_cast<Clock::duration>(since));
    }
    return passed;
  });
}
