//===- rank_view.h - what one rank holds of a program's values ---*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_EXEC_RANK_VIEW_H
#define MESHPLAN_RUNTIME_EXEC_RANK_VIEW_H

#include "runtime/artifact/artifact.h"
#include "runtime/artifact/sharding.h"
#include "runtime/data/slice.h"

namespace meshplan {

/// A rank's place in a program. Values are indices into Program.values. Cheap to
/// copy; the artifact must outlive it. Thread safe.
class RankView {
public:
  RankView(const artifact::Schedule &schedule, const artifact::Program &program, int64_t rank);

  const artifact::Schedule &schedule() const { return *scheduleTable; }
  const artifact::Program &program() const { return *programTable; }
  int64_t rank() const { return ownRank; }
  int64_t worldSize() const { return worldSizeOf(meshSizes); }

  /// The same program on another rank.
  RankView peer(int64_t rank) const { return {*scheduleTable, *programTable, rank}; }

  const artifact::Value &value(int index) const { return *programTable->values()->Get(index); }
  DType dtype(int index) const { return meshplan::dtypeOf(value(index).dtype()); }
  bool isOnHost(int index) const { return value(index).host(); }

  /// Shape of the rank's tensor.
  std::vector<int64_t> shape(int index) const { return localShapeOf(value(index), meshSizes, coordinate); }

  /// The parts of the global tensor that its dims leave to the rank, and which of these elements, in row-major order,
  /// its tensor has: all unless the value is flat.
  SliceRanges ranges(int index) const { return localRangesOf(value(index), meshSizes, coordinate); }
  Range run(int index) const { return localRunOf(value(index), meshSizes, coordinate); }

  /// The slices of the global tensor whose elements, one after the other, are those of the rank's tensor.
  std::vector<SliceRanges> slices(int index) const;

  /// The part of the global tensor of which no rank before this one holds a copy, if it is the first holder at all.
  SliceRanges firstHeld(int index) const;

  /// The place in the global tensor of an element of the rank's tensor, counted in row-major order.
  std::vector<int64_t> globalPosition(int index, int64_t element) const;

  /// What the expression means on this rank.
  int64_t evaluate(const artifact::IntExpr &expression) const;

  /// Ranks of the communicator that this rank belongs to, in order.
  std::vector<int64_t> group(const artifact::Communicator &communicator) const;

  /// How many ranks hold the same part of the value as this one, as many for every part, and the place of this rank
  /// among them in the order of ranks.
  int64_t holders(int index) const;
  int64_t placeAmongHolders(int index) const;

  /// Of all ranks that hold the same part of the value, this one has the lowest
  /// coordinates: it alone speaks for the part.
  bool isFirstHolder(int index) const { return placeAmongHolders(index) == 0; }

private:
  const artifact::Schedule *scheduleTable;
  const artifact::Program *programTable;
  int64_t ownRank;
  std::vector<int64_t> meshSizes, coordinate;
};

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_EXEC_RANK_VIEW_H
