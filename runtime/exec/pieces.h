//===- pieces.h - the pieces that a rank sends and receives -----*- C++ -*-===//
//
// Computes, from the shardings of a collective's input and output, the pieces that each rank of the group sends and
// receives. Pure and thread safe.
//
// Example: an all-gather of the columns of a [2, 4] tensor over 2 ranks. Each rank sends its whole [2, 2] tensor. The
// pieces arrive one after the other, but column halves interleave in the row-major output, so `unpacks` is true. An
// all-gather of rows needs no unpacking.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_RUNTIME_EXEC_PIECES_H
#define MESHPLAN_RUNTIME_EXEC_PIECES_H

#include "runtime/base/status.h"
#include "runtime/exec/overlap.h"
#include "runtime/exec/rank_view.h"

namespace meshplan {

/// One piece to, or from, each rank of the group. Counts are in elements.
struct Pieces {
  std::vector<Overlap> sends, receives;
  std::vector<int64_t> sendCounts, receiveCounts;
  bool packs = false;                    ///< the pieces to send are not consecutive in the input
  bool unpacks = false;                  ///< the received pieces are not consecutive in the output
  int64_t sendTo = -1, receiveFrom = -1; ///< permute: index in the group, -1 for none
};

/// `group` are the ranks of the collective, in order. `corrupted` if together they do not hold, exactly once, each
/// element that the rank receives.
Expected<Pieces> piecesOf(const RankView &view, const artifact::Start &start, std::span<const int64_t> group);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_EXEC_PIECES_H
