//===- copy_stream.cpp - copies on a stream of a GPU ----------------------===//
//
// Every order is stated by events, so that the host waits only where it reads what it received:
//
//   compute stream   ... produce x   e0   ...          wait e1   use y
//   copy stream                wait e0   y = copy x   e1
//
// A block that the rank frees after the wait is reused by the compute stream, which runs after the copy by then. The
// allocator of pinned memory itself waits for the copies that read a freed block.
//
//===----------------------------------------------------------------------===//

#include "runtime/tensor/copy_lane.h"
#include "runtime/tensor/torch/access.h"
#include "runtime/tensor/torch/device.h"
#include "runtime/tensor/torch/guard.h"

#include <ATen/ATen.h>
#include <c10/core/Event.h>
#include <c10/core/StreamGuard.h>
#include <utility>

using namespace meshplan;

namespace {

using SharedEvent = std::shared_ptr<c10::Event>;

/// Copies to the device that compute streams wait for, and the host does not.
std::vector<SharedEvent> &hostReads() {
  thread_local std::vector<SharedEvent> events;
  return events;
}

SharedEvent eventOn(const c10::Stream &stream) {
  auto event = std::make_shared<c10::Event>(stream.device_type());
  event->record(stream);
  return event;
}

class DeviceCopy final : public PendingCopy {
public:
  DeviceCopy(CopyDirection direction, SharedEvent done) : direction(direction), done(std::move(done)) {}

  ~DeviceCopy() override {
    // Not waited for: the run has failed, and the tensors are about to be freed.
    if (done)
      (void)finish();
  }

  Status wait() override {
    if (direction == CopyDirection::toHost)
      return finish();
    return guarded([&]() -> Status {
      done->block(computeStreamOf(deviceOfThread()));
      std::erase_if(hostReads(), [](const SharedEvent &event) { return event->query(); });
      hostReads().push_back(std::exchange(done, nullptr));
      return Status();
    });
  }

private:
  Status finish() {
    return guarded([&]() -> Status {
      std::exchange(done, nullptr)->synchronize();
      return Status();
    });
  }

  CopyDirection direction;
  SharedEvent done; ///< null after the wait
};

class TorchCopyStream final : public CopyStream {
public:
  TorchCopyStream(CopyDirection direction, c10::Stream stream) : direction(direction), stream(stream) {}

  Expected<std::unique_ptr<PendingCopy>> start(const Tensor &from, const Tensor &into) override {
    if (!std::ranges::equal(from.shape(), into.shape()) || from.dtype() != into.dtype())
      return Status::error(StatusCode::invalid, "cannot copy ", describe(from), " into ", describe(into));
    return guarded([&]() -> Expected<std::unique_ptr<PendingCopy>> {
      eventOn(computeStreamOf(deviceOfThread()))->block(stream);
      {
        c10::StreamGuard guard(stream);
        at::Tensor target = unwrap(into);
        target.copy_(unwrap(from), /*non_blocking=*/true);
      }
      return std::unique_ptr<PendingCopy>(std::make_unique<DeviceCopy>(direction, eventOn(stream)));
    });
  }

private:
  CopyDirection direction;
  c10::Stream stream;
};

} // namespace

Expected<std::unique_ptr<CopyStream>> meshplan::openCopyStream(CopyDirection direction) {
  return guarded([&]() -> Expected<std::unique_ptr<CopyStream>> {
    c10::Device device = torchDevice(deviceOfThread());
    c10::Stream stream = c10::impl::getDeviceGuardImpl(device.type())->getStreamFromGlobalPool(device);
    return std::unique_ptr<CopyStream>(std::make_unique<TorchCopyStream>(direction, stream));
  });
}

Status meshplan::finishHostReads() {
  return guarded([]() -> Status {
    for (const SharedEvent &event : std::exchange(hostReads(), {}))
      event->synchronize();
    return Status();
  });
}
