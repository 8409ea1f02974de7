//===- pieces.h - the pieces that a rank sends and receives -----*- C++ -*-===//
//
// Computes, from the shardings of the tensors of a collective before and after it, the pieces that a rank sends and
// receives. Pure and thread safe.
//
// A collective along dims moves one tensor, in pieces that are overlaps of what two ranks hold. A coalesced one moves
// tensors that are flat or are reduced whole, in pieces that are runs of their elements. A buffer has the pieces for
// the first rank of the group, then those for the second; the pieces of one rank are in the order of the tensors.
//
// The ranks of the communicator, and what they hold, come from the artifact: here it is checked that together they hold
// what each receives.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_RUNTIME_EXEC_MOVES_PIECES_H
#define MESHPLAN_RUNTIME_EXEC_MOVES_PIECES_H

#include "runtime/base/status.h"
#include "runtime/exec/rank_view.h"
#include "runtime/schema/packing.h"

#include <variant>

namespace meshplan {

/// Elements of a rank's tensor: an overlap with another rank's tensor, or a run in row-major order.
using TensorPiece = std::variant<Overlap, Range>;

int64_t elementCount(const TensorPiece &piece);

/// What a rank sends and receives of one tensor: a piece to and from each rank of the group, or a single one that goes
/// to all, or comes from all.
struct MovedTensor {
  int input = -1, output = -1; ///< indices into Program.values
  std::vector<TensorPiece> sends, receives;
};

struct Pieces {
  std::vector<MovedTensor> tensors;
  /// Elements of all tensors to and from each rank; one number where a single piece goes to all or comes from all.
  std::vector<int64_t> sendCounts, receiveCounts;
  int64_t sendTo = -1, receiveFrom = -1; ///< permute: index in the group, -1 for none
  bool needsPacking = false;             ///< the pieces that are sent do not follow one another in the tensor
  bool needsUnpacking = false;           ///< the same of those that are received

  int64_t sent() const;
  int64_t received() const;
};

/// `group` are the ranks of the collective, in order. `corrupted` if together they do not hold, exactly once, each
/// element that the rank receives.
Expected<Pieces> piecesOf(const RankView &view, const artifact::Start &start, std::span<const int64_t> group);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_EXEC_MOVES_PIECES_H
