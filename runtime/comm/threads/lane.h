//===- lane.h - the collectives of one communicator, in order ---*- C++ -*-===//
//
// The collectives that all ranks of a communicator have started and that have unclaimed pieces. Pieces are claimed in
// the order in which the collectives became ready. For collectives of the whole group that is the order in which the
// ranks started them, since each rank starts them in the same order.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_RUNTIME_COMM_THREADS_LANE_H
#define MESHPLAN_RUNTIME_COMM_THREADS_LANE_H

#include "runtime/comm/threads/exchange.h"

#include <deque>
#include <memory>

namespace meshplan {

/// Pieces that the holder moves.
struct ClaimedPieces {
  std::shared_ptr<Exchange> exchange;
  std::vector<int64_t> slots;
};

/// The caller holds the lock of the run.
class Lane {
public:
  bool empty() const { return queue.empty(); }

  /// `exchange` is ready, and its parts agree.
  void push(std::shared_ptr<Exchange> exchange) { queue.push_back(std::move(exchange)); }

  /// Claims a piece of the oldest exchange; that of the member in `slot` if it is free and the exchange is `own`.
  /// Precondition: not empty.
  ClaimedPieces claim(const Exchange *own = nullptr, int64_t slot = 0);

private:
  std::deque<std::shared_ptr<Exchange>> queue; // each has an unclaimed piece
};

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_COMM_THREADS_LANE_H
