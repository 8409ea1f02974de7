//===- exchange.h - one collective of its ranks -----------------*- C++ -*-===//
//
// The meeting point of a group's ranks for one collective. The caller holds the lock of the run for everything except
// movePiece.
//
// Example: an all-reduce of 9 elements by 3 ranks has the pieces 0-2, 3-5 and 6-8. When the third rank has arrived,
// progress threads and waiting ranks claim pieces, a rank its own if it is free, and reduce each from the 3 inputs into
// the 3 outputs. While all ranks compute, progress threads move all pieces.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_RUNTIME_COMM_THREADS_EXCHANGE_H
#define MESHPLAN_RUNTIME_COMM_THREADS_EXCHANGE_H

#include "runtime/comm/agreement.h"
#include "runtime/comm/communicator.h"

#include <optional>

namespace meshplan {

class Exchange {
public:
  /// `ranks` are the world ranks that take part, `indices` their indices in the group. `number` identifies it in the
  /// run.
  Exchange(std::vector<int64_t> ranks, std::vector<int64_t> indices, int64_t number = 0);

  int64_t number() const { return ownNumber; }
  std::span<const int64_t> ranks() const { return memberRanks; }

  /// Adds the part of one member. True if it was the last to arrive; then the parts have been compared, and `error`
  /// says whether they agree.
  bool arrive(int64_t slot, Collective collective, std::string_view group);

  bool ready() const { return arrived == size(); }
  bool finished() const { return moved == size(); }
  const Status &error() const { return disagreement; }

  /// Ranks that have not arrived.
  std::vector<int64_t> missing() const;

  /// Claims an unclaimed piece, `own` first. The caller moves it, then calls reportMoved.
  std::optional<int64_t> claimPiece(int64_t own);
  bool hasUnclaimed() const { return unclaimed > 0; }
  void reportMoved();

  /// When the last member arrived, and when the last piece was moved. Precondition: finished.
  MoveInterval interval() const { return movedIn; }

  /// Bytes that all pieces read together. Precondition: ready.
  int64_t bytes() const;

  int64_t waiting = 0; ///< members whose wait has begun

  /// Computes the output of the member in `slot`. Pieces are independent: different threads may move different pieces
  /// at the same time.
  void movePiece(int64_t slot) const;

  int64_t size() const { return static_cast<int64_t>(memberRanks.size()); }

private:
  void reducePiece(int64_t slot) const;
  void copyPiece(int64_t slot) const;

  std::vector<int64_t> memberRanks, memberIndices;
  int64_t ownNumber;
  std::vector<std::optional<Collective>> parts;
  std::vector<bool> claimed;
  int64_t arrived = 0, moved = 0, unclaimed;
  Status disagreement;
  MoveInterval movedIn;
};

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_COMM_THREADS_EXCHANGE_H
