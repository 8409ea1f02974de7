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

#include "runtime/exec/moves/pieces.h"

#include <algorithm>
#include <numeric>

using namespace meshplan;

int64_t meshplan::elementCount(const TensorPiece &piece) {
  const auto *overlap = std::get_if<Overlap>(&piece);
  return overlap ? overlap->elementCount() : std::get<Range>(piece).size;
}

int64_t Pieces::sent() const { return std::accumulate(sendCounts.begin(), sendCounts.end(), int64_t(0)); }
int64_t Pieces::received() const { return std::accumulate(receiveCounts.begin(), receiveCounts.end(), int64_t(0)); }

namespace {

/// What each rank of the group holds of a tensor before and after the collective.
struct Holdings {
  std::vector<SliceRanges> inputs, outputs;
  size_t own = 0; // index of this rank

  std::vector<int64_t> inputShape() const { return sliceShape(inputs[own]); }
  std::vector<int64_t> outputShape() const { return sliceShape(outputs[own]); }
};

Holdings holdingsOf(const RankView &view, const MovedTensor &tensor, std::span<const int64_t> group) {
  Holdings holdings;
  for (int64_t rank : group) {
    RankView peer = view.peer(rank);
    if (rank == view.rank())
      holdings.own = holdings.inputs.size();
    holdings.inputs.push_back(peer.ranges(tensor.input));
    holdings.outputs.push_back(peer.ranges(tensor.output));
  }
  return holdings;
}

Status notHeld(std::string_view what) {
  return Status::error(StatusCode::corrupted, "the ranks of the communicator do not hold ", what);
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

/// True if the pieces have each element of the holder's tensor exactly once.
bool cover(std::span<const Overlap> pieces, const SliceRanges &holder, int64_t CommonRun::*side) {
  // Without elements there are no runs to compare, and nothing can be missing.
  return elementCount(sliceShape(holder)) == 0 || makeUp(pieces, holder, side);
}

std::vector<TensorPiece> asPieces(std::span<const Overlap> overlaps) { return {overlaps.begin(), overlaps.end()}; }

/// A single piece: the whole tensor.
std::vector<TensorPiece> wholeOf(std::span<const int64_t> shape) { return {Range{0, elementCount(shape)}}; }

/// Gathers, scatters and exchanges along dims.
Expected<Pieces> exchange(const artifact::Start &start, MovedTensor moved, const Holdings &holdings) {
  ExchangedPieces pieces = exchangedPieces(holdings.inputs, holdings.outputs, holdings.own);
  bool sendsPieces = start.kind() != artifact::CollectiveKind::all_gather;
  bool receivesPieces = start.kind() != artifact::CollectiveKind::reduce_scatter;
  int64_t inputCount = elementCount(holdings.inputShape()), outputCount = elementCount(holdings.outputShape());
  // An all-gather sends the whole input to every rank, so every rank must need all of it. The ranks of a reduction hold
  // addends of the same elements, since no dim of a value is sharded over an axis over which the value is partial; each
  // receives the sum of its own piece.
  bool sendsAll =
      sendsPieces
          ? cover(pieces.sends, holdings.inputs[holdings.own], &CommonRun::source)
          : std::ranges::all_of(pieces.sends, [&](const Overlap &piece) { return piece.elementCount() == inputCount; });
  bool receivesAll = receivesPieces ? cover(pieces.receives, holdings.outputs[holdings.own], &CommonRun::target)
                                    : pieces.sends[holdings.own].elementCount() == outputCount;
  if (!sendsAll || !receivesAll)
    return notHeld(receivesPieces ? "each element of the output once"
                                  : "each element of the input once after the reduction");
  Packing packing = packingOf(start.kind(), pieces, holdings.inputShape(), holdings.outputShape());
  moved.sends = sendsPieces ? asPieces(pieces.sends) : wholeOf(holdings.inputShape());
  moved.receives = receivesPieces ? asPieces(pieces.receives) : wholeOf(holdings.outputShape());
  Pieces result;
  result.tensors = {std::move(moved)};
  result.needsPacking = packing.packs;
  result.needsUnpacking = packing.unpacks;
  return result;
}

/// Pairs holders and receivers of each part in the order of their indices, so that all ranks find the same pairs. A
/// part may have several holders, and none may send twice: a permute has one receiver for each sender.
Expected<Pieces> permute(MovedTensor moved, const Holdings &holdings) {
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
  moved.sends = wholeOf(holdings.inputShape());
  moved.receives = wholeOf(holdings.outputShape());
  pieces.tensors = {std::move(moved)};
  return pieces;
}

/// True if the runs of the ranks are consecutive and cover `whole`.
bool areConsecutive(std::span<const Range> runs, Range whole) {
  int64_t end = 0;
  for (Range run : runs) {
    if (run.offset != end)
      return false;
    end += run.size;
  }
  return end == whole.size;
}

/// A tensor of a coalesced collective.
Expected<MovedTensor> coalescedTensor(const RankView &view, const artifact::Start &start, MovedTensor moved,
                                      std::span<const int64_t> group) {
  moved.sends = {Range{0, view.run(moved.input).size}};
  moved.receives = {Range{0, view.run(moved.output).size}};
  if (start.kind() == artifact::CollectiveKind::all_reduce) {
    if (view.ranges(moved.input) != view.ranges(moved.output) || view.run(moved.input) != view.run(moved.output))
      return notHeld("the output where they hold the input");
    return moved;
  }
  // A gather has flat inputs and a reduce-scatter flat outputs; the other side is the tensor of which these are runs.
  bool gathers = start.kind() == artifact::CollectiveKind::all_gather;
  int cut = gathers ? moved.input : moved.output;
  Range whole = view.run(gathers ? moved.output : moved.input);
  std::vector<Range> runs;
  for (int64_t rank : group) {
    Range run = view.peer(rank).run(cut);
    runs.push_back({run.offset - whole.offset, run.size});
    // The communicator comes from the artifact. With a wrong one, elements would silently move to a wrong location.
    if (view.peer(rank).ranges(cut) != view.ranges(cut))
      return notHeld("runs of the same elements");
  }
  if (!areConsecutive(runs, whole))
    return notHeld("each element once");
  (gathers ? moved.receives : moved.sends).assign(runs.begin(), runs.end());
  return moved;
}

Expected<Pieces> coalesced(const RankView &view, const artifact::Start &start, std::span<const int64_t> group) {
  Pieces pieces;
  MESHPLAN_RETURN_IF_ERROR(forEachMoved(view.program(), start, [&](int32_t input, int32_t output) -> Status {
    MESHPLAN_ASSIGN_OR_RETURN(MovedTensor moved, coalescedTensor(view, start, {input, output, {}, {}}, group));
    pieces.tensors.push_back(std::move(moved));
    return Status();
  }));
  bool areSeveral = pieces.tensors.size() > 1;
  pieces.needsPacking = areSeveral && pieces.tensors.front().sends.size() > 1;
  pieces.needsUnpacking = areSeveral && pieces.tensors.front().receives.size() > 1;
  return pieces;
}

Expected<Pieces> exchangeOf(const RankView &view, const artifact::Start &start, std::span<const int64_t> group) {
  using artifact::CollectiveKind;
  std::vector<int32_t> inputs = membersOf(view.program(), start.input());
  if (isAboutFlat(start) || start.kind() == CollectiveKind::all_reduce)
    return coalesced(view, start, group);
  MovedTensor moved{inputs.front(), membersOf(view.program(), start.output()).front(), {}, {}};
  Holdings holdings = holdingsOf(view, moved, group);
  return start.kind() == CollectiveKind::permute ? permute(std::move(moved), holdings)
                                                 : exchange(start, std::move(moved), holdings);
}

/// Elements of all tensors, piece by piece.
std::vector<int64_t> countsOf(const Pieces &pieces, std::vector<TensorPiece> MovedTensor::*side) {
  std::vector<int64_t> counts((pieces.tensors.front().*side).size(), 0);
  for (const MovedTensor &moved : pieces.tensors)
    for (size_t rank = 0; rank < counts.size(); ++rank)
      counts[rank] += elementCount((moved.*side)[rank]);
  return counts;
}

} // namespace

Expected<Pieces> meshplan::piecesOf(const RankView &view, const artifact::Start &start,
                                    std::span<const int64_t> group) {
  MESHPLAN_ASSIGN_OR_RETURN(Pieces pieces, exchangeOf(view, start, group));
  pieces.sendCounts = countsOf(pieces, &MovedTensor::sends);
  pieces.receiveCounts = countsOf(pieces, &MovedTensor::receives);
  return pieces;
}
