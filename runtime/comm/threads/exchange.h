//===- exchange.h - one collective of all its ranks --------------*- C++ -*-===//
//
// Where the ranks of a group meet for one collective. Not locked: the caller
// holds the lock of the run for everything but movePiece.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_RUNTIME_COMM_THREADS_EXCHANGE_H
#define MESHPLAN_RUNTIME_COMM_THREADS_EXCHANGE_H

#include "runtime/comm/agreement.h"

#include <optional>

namespace meshplan {

class Exchange {
public:
  /// `ranks` are the ranks that take part, `indices` their indices in the group.
  Exchange(std::vector<int64_t> ranks, std::vector<int64_t> indices);

  std::span<const int64_t> ranks() const { return memberRanks; }

  /// Takes the part of one member. True when it was the last one to arrive; then the
  /// parts have been compared, and `error` says whether they fit.
  bool arrive(int64_t slot, Collective collective, std::string_view group);

  bool ready() const { return arrived == size(); }
  bool finished() const { return moved == size(); }
  const Status &error() const { return disagreement; }

  /// Ranks that have not arrived.
  std::vector<int64_t> missing() const;

  /// A piece that nobody moves yet, `own` first. The caller moves it and reports.
  std::optional<int64_t> claimPiece(int64_t own);
  void reportMoved() { ++moved; }

  /// Moves everything that the member in `slot` gets. Pieces are independent:
  /// different threads may move different pieces at the same time.
  void movePiece(int64_t slot) const;

  int64_t size() const { return static_cast<int64_t>(memberRanks.size()); }

private:
  void reducePiece(int64_t slot) const;
  void copyPiece(int64_t slot) const;

  std::vector<int64_t> memberRanks, memberIndices;
  std::vector<std::optional<Collective>> parts;
  std::vector<bool> claimed;
  int64_t arrived = 0, moved = 0, unclaimed;
  Status disagreement;
};

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_COMM_THREADS_EXCHANGE_H
