//===- device_marks.h - when a device passed its work -----------*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_TENSOR_DEVICE_MARKS_H
#define MESHPLAN_RUNTIME_TENSOR_DEVICE_MARKS_H

#include "runtime/tensor/device.h"

#include <chrono>
#include <vector>

namespace meshplan {

/// Moments of the calling thread's computation. On a GPU the stream passes a mark when all that was enqueued before it
/// is done, so two marks around an operator have its time on the device; without them only the time of the host that
/// enqueues it is seen. On the host a mark is the time of the call. Belongs to the thread that made it.
class DeviceMarks {
public:
  using Clock = std::chrono::steady_clock;

  DeviceMarks();
  DeviceMarks(const DeviceMarks &) = delete;
  DeviceMarks &operator=(const DeviceMarks &) = delete;
  ~DeviceMarks();

  /// Adds a mark after what is enqueued. Costs the host about a microsecond, and the device no waiting.
  Status mark();

  /// The times of all marks. Waits until the device has passed them. The first mark has the time of its call, the
  /// others what the device measured from there, to about a microsecond.
  Expected<std::vector<Clock::time_point>> times() const;

private:
  Device device;
  std::vector<Clock::time_point> calls;
  std::vector<void *> events; ///< on a GPU, one for each call
};

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_TENSOR_DEVICE_MARKS_H
