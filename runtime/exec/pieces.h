//===- pieces.h - the pieces that a rank sends and receives -----*- C++ -*-===//
//
// Computes, from the shardings of a collective's input and output, the pieces that each rank of the group sends and
// receives. Pure and thread safe.
//
// The ranks of the communicator, and what they hold, come from the artifact: here it is checked that together they hold
// what each receives.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_RUNTIME_EXEC_PIECES_H
#define MESHPLAN_RUNTIME_EXEC_PIECES_H

#include "runtime/base/status.h"
#include "runtime/exec/rank_view.h"
#include "runtime/schema/packing.h"

namespace meshplan {

/// One piece to, or from, each rank of the group. Counts are in elements.
struct Pieces : ExchangedPieces {
  std::vector<int64_t> sendCounts, receiveCounts;
  Packing packing;
  int64_t sendTo = -1, receiveFrom = -1; ///< permute: index in the group, -1 for none
};

/// `group` are the ranks of the collective, in order. `corrupted` if together they do not hold, exactly once, each
/// element that the rank receives.
Expected<Pieces> piecesOf(const RankView &view, const artifact::Start &start, std::span<const int64_t> group);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_EXEC_PIECES_H
