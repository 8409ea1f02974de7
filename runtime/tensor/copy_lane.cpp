//===- copy_lane.cpp - copies between device and host memory --------------===//
//
// The queue of a lane holds pointers to copies that the rank owns: a copy leaves the queue, and is not touched any
// more, before its wait returns. So the rank frees the tensors, at the step at which the plan says so.
//
//===----------------------------------------------------------------------===//

#include "runtime/tensor/copy_lane.h"

#include "runtime/tensor/compute_scope.h"
#include "runtime/tensor/device.h"

using namespace meshplan;

/// A copy by the thread of the lane.
class CopyLane::HostCopy final : public PendingCopy {
public:
  HostCopy(CopyLane &lane, const Tensor &from, const Tensor &into) : from(from), into(into), lane(lane) {}
  ~HostCopy() override { (void)HostCopy::wait(); }

  Status wait() override {
    std::unique_lock lock(lane.mutex);
    lane.changed.wait(lock, [&] { return isOver; });
    return status;
  }

  const Tensor from, into;
  // Guarded by the mutex of the lane.
  bool isOver = false;
  Status status;

private:
  CopyLane &lane;
};

CopyLane::~CopyLane() {
  if (!worker.joinable())
    return;
  {
    std::lock_guard lock(mutex);
    isClosed = true;
  }
  changed.notify_all();
  worker.join();
}

void CopyLane::work() {
  // One thread: the lane takes no more than one core from what the rank computes.
  ComputeScope scope(/*threads=*/1);
  std::unique_lock lock(mutex);
  while (true) {
    changed.wait(lock, [&] { return isClosed || !queue.empty(); });
    if (queue.empty())
      return;
    HostCopy &copy = *queue.front();
    queue.pop_front();
    lock.unlock();
    Status status = copyElements(copy.from, copy.into);
    lock.lock();
    copy.status = std::move(status);
    copy.isOver = true;
    changed.notify_all();
  }
}

std::unique_ptr<PendingCopy> CopyLane::enqueue(const Tensor &from, const Tensor &into) {
  // Before something is queued: a thread that cannot be created would leave a copy for which its owner waits forever.
  if (!worker.joinable())
    worker = std::thread([this] { work(); });
  auto copy = std::make_unique<HostCopy>(*this, from, into);
  {
    std::lock_guard lock(mutex);
    queue.push_back(copy.get());
  }
  changed.notify_all();
  return copy;
}

Expected<std::unique_ptr<PendingCopy>> CopyLane::start(const Tensor &from, const Tensor &into) {
  if (deviceOfThread().isHost())
    return enqueue(from, into);
  if (!stream) {
    MESHPLAN_ASSIGN_OR_RETURN(stream, openCopyStream(direction));
  }
  return stream->start(from, into);
}
