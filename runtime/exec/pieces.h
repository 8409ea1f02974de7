//===- pieces.h - what a collective moves on a rank --------------*- C++ -*-===//
//
// Works out, from the shardings of a collective's input and output, the piece
// that each rank of the group sends and gets. Pure; thread safe.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_RUNTIME_EXEC_PIECES_H
#define MESHPLAN_RUNTIME_EXEC_PIECES_H

#include "runtime/base/status.h"
#include "runtime/exec/overlap.h"
#include "runtime/exec/rank_view.h"

namespace meshplan {

/// One piece to, or from, each rank of the group; counts in elements.
struct Pieces {
  std::vector<Overlap> sends, receives;
  std::vector<int64_t> sendCounts, receiveCounts;
  bool packs = false;                    ///< the pieces to send do not follow one another in the input
  bool unpacks = false;                  ///< the pieces that arrive do not follow one another in the output
  int64_t sendTo = -1, receiveFrom = -1; ///< permute: index in the group, -1 for nobody
};

/// `group` are the ranks of the collective, in order. `corrupted` when they do not
/// hold together, each element once, what the rank is to get.
Expected<Pieces> piecesOf(const RankView &view, const artifact::Start &start, std::span<const int64_t> group);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_EXEC_PIECES_H
