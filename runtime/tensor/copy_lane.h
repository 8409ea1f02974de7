//===- copy_lane.h - copies between device and host memory ------*- C++ -*-===//
//
// The copies of one direction, in the order of their starts, beside what the rank computes. On a CPU, where both
// memories are one, a thread of the lane makes them. On a GPU they are on a stream of their own, which first waits for
// the work that was enqueued before the start.
//
// A lane and its copies belong to the thread of their rank.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_RUNTIME_TENSOR_COPY_LANE_H
#define MESHPLAN_RUNTIME_TENSOR_COPY_LANE_H

#include "runtime/tensor/tensor.h"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

namespace meshplan {

/// A started copy. Destroying it before wait blocks the host until the copy is over, because its tensors may be freed
/// then. The lane must outlive it.
class PendingCopy {
public:
  virtual ~PendingCopy() = default;

  /// After it, the tensors may be used. On a GPU a copy to the device does not block the host: what is enqueued later
  /// runs after the copy, and finishHostReads blocks. Fails as copyElements. Call it once.
  virtual Status wait() = 0;
};

enum class CopyDirection : uint8_t { toDevice, toHost };

/// The copies of a rank to a GPU or from it.
class CopyStream {
public:
  virtual ~CopyStream() = default;
  virtual Expected<std::unique_ptr<PendingCopy>> start(const Tensor &from, const Tensor &into) = 0;
};

/// A stream of the thread's device, a GPU.
Expected<std::unique_ptr<CopyStream>> openCopyStream(CopyDirection direction);

/// Blocks until no copy to a GPU that this thread has waited for reads host memory. Call it before the host changes a
/// tensor. Does nothing if there is none.
Status finishHostReads();

class CopyLane {
public:
  explicit CopyLane(CopyDirection direction) : direction(direction) {}
  CopyLane(const CopyLane &) = delete;
  CopyLane &operator=(const CopyLane &) = delete;
  ~CopyLane();

  /// Begins to copy the elements of `from` to `into`, of equal shape and dtype: one on the thread's device, the other
  /// in host memory. Until wait, `from` must not change, `into` must not be used, and both must stay allocated.
  Expected<std::unique_ptr<PendingCopy>> start(const Tensor &from, const Tensor &into);

private:
  class HostCopy;

  std::unique_ptr<PendingCopy> enqueue(const Tensor &from, const Tensor &into);
  void work();

  CopyDirection direction;
  std::unique_ptr<CopyStream> stream; // on a GPU, from the first copy on
  // On a CPU: what the rank and the thread of the lane share. The thread exists from the first copy on.
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<HostCopy *> queue;
  bool isClosed = false;
  std::thread worker;
};

/// The lanes of a rank. The two directions of a bus do not slow each other down.
struct CopyLanes {
  CopyLane toDevice{CopyDirection::toDevice}, toHost{CopyDirection::toHost};
};

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_TENSOR_COPY_LANE_H
