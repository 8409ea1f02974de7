//===- packing.h - what is copied when tensors move -------------*- C++ -*-===//
//
// A collective sends one run of memory and receives another. The tensors of the
// program are these runs, if they can be; otherwise what is sent is first copied
// into a buffer (packed), or what arrives is copied out of one (unpacked). The
// compiler writes these copies into the schedule by the functions below, and
// the runtime refuses a collective along dims that is not packed though its
// pieces are not in order.
//
// Along a dim, a rank sends a piece to each rank of the group, or receives one
// from each. Example: the columns of a [2, 4] tensor are gathered over 2 ranks.
// Each sends its whole [2, 2] tensor. The pieces arrive one after the other, but
// the halves of a row are adjacent in the row-major result, so they are
// unpacked. Rows need no unpacking.
//
// Coalesced tensors are sent one after the other. They are packed unless they
// are adjacent in memory already. Example: an all-gather of A (3 elements per
// rank) and B (2 per rank) over 2 ranks. Rank 0 sends A0 B0 and rank 1 sends A1
// B1. Both receive A0 B0 A1 B1 and unpack it to A = A0 A1 and B = B0 B1, even if
// A and B are adjacent.
//
// `Kind` is the enum of the kinds of collectives in the dialects or in the
// artifact, which have the same cases.
//
// Header only, standard library only, no state. All functions are pure and
// thread safe.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_RUNTIME_SCHEMA_PACKING_H
#define MESHPLAN_RUNTIME_SCHEMA_PACKING_H

#include "runtime/schema/overlap.h"

namespace meshplan {

/// What one rank copies for a collective.
struct Packing {
  bool packs = false;   ///< all that is sent is copied into one buffer
  bool unpacks = false; ///< all that arrives is copied from one buffer into the results

  bool operator==(const Packing &) const = default;
};

/// The pieces that a rank sends to each rank of its group, and receives from each, in the order of the group.
struct ExchangedPieces {
  std::vector<Overlap> sends, receives;
};

/// The exchange of rank `own` of a group. `before` and `after` have, for each rank of the group, the ranges of each dim
/// that it holds before and after the collective.
inline ExchangedPieces exchangedPieces(std::span<const std::vector<std::vector<Range>>> before,
                                       std::span<const std::vector<std::vector<Range>>> after, size_t own) {
  ExchangedPieces pieces;
  for (size_t peer = 0; peer < before.size(); ++peer) {
    pieces.sends.push_back(overlapOf(before[own], after[peer]));
    pieces.receives.push_back(overlapOf(before[peer], after[own]));
  }
  return pieces;
}

/// True if the pieces, which have these elements on one `side`, follow one another in a row-major tensor of `shape`.
inline bool followOneAnother(std::span<const Overlap> pieces, int64_t CommonRun::*side,
                             std::span<const int64_t> shape) {
  int64_t begin = 0;
  for (const Overlap &piece : pieces) {
    if (!isInOrder(piece, side, shape, begin))
      return false;
    begin += piece.elementCount();
  }
  return true;
}

/// The packing of a collective along dims that moves one tensor. `input` and `output` are the shapes of the rank's
/// tensor before and after.
template <typename Kind>
Packing packingOf(Kind kind, const ExchangedPieces &pieces, std::span<const int64_t> input,
                  std::span<const int64_t> output) {
  // A gather sends the whole input to every rank; the sum of a reduce-scatter is the whole output.
  bool sendsPieces = kind == Kind::reduce_scatter || kind == Kind::all_to_all;
  bool receivesPieces = kind == Kind::all_gather || kind == Kind::all_to_all;
  return {sendsPieces && !followOneAnother(pieces.sends, &CommonRun::source, input),
          receivesPieces && !followOneAnother(pieces.receives, &CommonRun::target, output)};
}

/// The packing of a collective of `count` tensors that are flat, or are reduced whole. `areInputsAdjacent` and
/// `areTargetsAdjacent`: the inputs, or the tensors that the results overwrite, are adjacent in memory, in order.
/// Results that overwrite nothing are new tensors, which are not adjacent.
template <typename Kind>
Packing packingOfCoalesced(Kind kind, size_t count, bool areInputsAdjacent, bool areTargetsAdjacent) {
  // The buffers of several ranks follow one another, so that the pieces of one tensor are not adjacent in them.
  bool packs = kind == Kind::reduce_scatter || !areInputsAdjacent;
  bool unpacks = kind == Kind::all_gather || !areTargetsAdjacent;
  return count == 1 ? Packing{} : Packing{packs, unpacks};
}

/// True if a rank copies its slice of a tensor whose dims were divided as in `before` and are now as in `after`. Other
/// slices are views. Of a dim with parts a rank holds several ranges, which are concatenated; also where all but one
/// are empty, so that all ranks do the same.
inline bool sliceIsCopied(std::span<const DimSharding> before, std::span<const DimSharding> after) {
  for (size_t dim = 0; dim < after.size(); ++dim) {
    bool isDivided = before[dim].axes != after[dim].axes || before[dim].parts != after[dim].parts;
    if (isDivided && !after[dim].parts.empty())
      return true;
  }
  return false;
}

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_SCHEMA_PACKING_H
