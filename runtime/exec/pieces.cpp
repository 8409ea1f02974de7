//===- pieces.cpp - the pieces that a rank sends and receives -------------===//
//
// Each rank computes the pieces alone, from the shardings in the artifact, and sends no sizes: the peers' ranges are
// known as well as its own.
//
// Example: mesh dp=2, tp=3. The rows of a [6, 6] value are split over tp, and an all-to-all splits its columns instead.
// Rank 1 is in the group 0, 1, 2 and has rows 2-3 before and columns 2-3 after:
//
//   rank 1 sends to      0: rows 2-3 of columns 0-1   1: rows 2-3 of columns 2-3   2: rows 2-3 of columns 4-5
//   rank 1 receives from 0: rows 0-1 of columns 2-3   1: rows 2-3 of columns 2-3   2: rows 4-5 of columns 2-3
//
// The received pieces agree in the columns and differ in the rows, where 0-1, 2-3 and 4-5 fill the 6 rows of the
// output. That is what makeUp checks, for each dim on its own: the cost is that of the list of runs, not of the
// elements. Without the check a wrong communicator would leave elements uninitialized, or wait for data that no rank
// sends.
//
//===----------------------------------------------------------------------===//

#include "runtime/exec/pieces.h"

#include <algorithm>

using namespace meshplan;

namespace {

/// What each rank of the group holds before and after the collective.
struct Holdings {
  std::vector<SliceRanges> inputs, outputs;
  size_t own = 0; // index of this rank
};

Holdings holdingsOf(const RankView &view, const artifact::Start &start, std::span<const int64_t> group) {
  Holdings holdings;
  for (int64_t rank : group) {
    RankView peer = view.peer(rank);
    if (rank == view.rank())
      holdings.own = holdings.inputs.size();
    holdings.inputs.push_back(peer.ranges(start.input()));
    holdings.outputs.push_back(peer.ranges(start.output()));
  }
  return holdings;
}

Status notHeld(std::string_view what) {
  return Status::error(StatusCode::corrupted, "the ranks of the communicator do not hold ", what);
}

std::vector<int64_t> countsOf(std::span<const Overlap> pieces) {
  std::vector<int64_t> counts;
  for (const Overlap &piece : pieces)
    counts.push_back(piece.elementCount());
  return counts;
}

/// True if the runs of a dim are contiguous and cover it from its first to its last element.
bool fillDim(std::vector<CommonRun> runs, int64_t extent, int64_t CommonRun::*side) {
  std::ranges::sort(runs, {}, side);
  int64_t end = 0;
  for (const CommonRun &run : runs) {
    if (run.*side != end)
      return false;
    end += run.size;
  }
  return end == extent;
}

/// True if the pieces cover the holder's tensor, each element once. The pieces of one collective differ in one dim
/// only.
bool makeUp(std::span<const Overlap> pieces, const SliceRanges &holder, int64_t CommonRun::*side) {
  std::vector<int64_t> shape = sliceShape(holder);
  int differing = 0;
  for (size_t dim = 0; dim < shape.size(); ++dim) {
    // Checked dim by dim, without a list of elements. In the dim in which the pieces differ, their runs together must
    // cover it; in the others the runs of each piece must.
    std::vector<CommonRun> runs = pieces[0].dims[dim];
    bool differs = std::ranges::any_of(pieces, [&](const Overlap &piece) { return piece.dims[dim] != runs; });
    for (size_t i = 1; differs && i < pieces.size(); ++i)
      runs.insert(runs.end(), pieces[i].dims[dim].begin(), pieces[i].dims[dim].end());
    if (!fillDim(std::move(runs), shape[dim], side))
      return false;
    differing += differs;
  }
  // Two pieces that differ in no dim are the same elements twice. Pieces that differ in two dims leave elements out:
  // rows 0-1 of columns 0-1 with rows 2-3 of columns 2-3 fill both dims and yet are half of the [4, 4] tensor.
  return differing == (pieces.size() > 1 ? 1 : 0);
}

bool receivesMakeUp(const Pieces &pieces, const SliceRanges &output) {
  // Without elements there are no runs to compare, and nothing can be missing.
  return elementCount(sliceShape(output)) == 0 || makeUp(pieces.receives, output, &CommonRun::target);
}

bool sendsMakeUp(const Pieces &pieces, const SliceRanges &input) {
  return elementCount(sliceShape(input)) == 0 || makeUp(pieces.sends, input, &CommonRun::source);
}

Pieces fullExchange(const artifact::Start &start, const Holdings &holdings) {
  Pieces pieces{exchangedPieces(holdings.inputs, holdings.outputs, holdings.own)};
  pieces.sendCounts = countsOf(pieces.sends);
  pieces.receiveCounts = countsOf(pieces.receives);
  pieces.packing = packingOf(start.kind(), pieces, sliceShape(holdings.inputs[holdings.own]),
                             sliceShape(holdings.outputs[holdings.own]));
  return pieces;
}

Expected<Pieces> allGather(Pieces pieces, const Holdings &holdings) {
  int64_t inputCount = elementCount(sliceShape(holdings.inputs[holdings.own]));
  // An all-gather sends the whole input to every rank, so every rank must need all of it.
  bool sendsAll = std::ranges::all_of(pieces.sendCounts, [&](int64_t count) { return count == inputCount; });
  if (!sendsAll || !receivesMakeUp(pieces, holdings.outputs[holdings.own]))
    return notHeld("each element of the output once");
  return pieces;
}

// The ranks of a reduction hold addends of the same elements, since no dim of a value is sharded over an axis over
// which the value is partial.
Expected<Pieces> reduceScatter(Pieces pieces, const Holdings &holdings) {
  int64_t outputCount = elementCount(sliceShape(holdings.outputs[holdings.own]));
  if (!sendsMakeUp(pieces, holdings.inputs[holdings.own]) || pieces.sendCounts[holdings.own] != outputCount)
    return notHeld("each element of the input once after the reduction");
  return pieces;
}

Expected<Pieces> allReduce(const Holdings &holdings) {
  if (holdings.inputs[holdings.own] != holdings.outputs[holdings.own])
    return notHeld("the output where they hold the input");
  return Pieces();
}

Expected<Pieces> allToAll(Pieces pieces, const Holdings &holdings) {
  if (!sendsMakeUp(pieces, holdings.inputs[holdings.own]) || !receivesMakeUp(pieces, holdings.outputs[holdings.own]))
    return notHeld("each element of the output once");
  return pieces;
}

/// Pairs holders and receivers of each part in the order of their indices, so that all ranks find the same pairs. A
/// part may have several holders, and none may send twice: a permute has one receiver for each sender.
Expected<Pieces> permute(const Holdings &holdings) {
  Pieces pieces;
  std::vector<bool> taken(holdings.inputs.size(), false);
  for (size_t to = 0; to < holdings.outputs.size(); ++to) {
    size_t from = 0;
    while (from < taken.size() && (taken[from] || holdings.inputs[from] != holdings.outputs[to]))
      ++from;
    if (from == taken.size())
      return notHeld("each part of the output");
    taken[from] = true;
    if (to == holdings.own)
      pieces.receiveFrom = static_cast<int64_t>(from);
    if (from == holdings.own)
      pieces.sendTo = static_cast<int64_t>(to);
  }
  return pieces;
}

} // namespace

Expected<Pieces> meshplan::piecesOf(const RankView &view, const artifact::Start &start,
                                    std::span<const int64_t> group) {
  Holdings holdings = holdingsOf(view, start, group);
  switch (start.kind()) {
  case artifact::CollectiveKind::all_gather:
    return allGather(fullExchange(start, holdings), holdings);
  case artifact::CollectiveKind::reduce_scatter:
    return reduceScatter(fullExchange(start, holdings), holdings);
  case artifact::CollectiveKind::all_reduce:
    return allReduce(holdings);
  case artifact::CollectiveKind::all_to_all:
    return allToAll(fullExchange(start, holdings), holdings);
  case artifact::CollectiveKind::permute:
    return permute(holdings);
  }
  return Status(StatusCode::internal, "a collective of unknown kind passed verification");
}
