//===- rank_view.h - one rank's part of a program's values ------*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_EXEC_RANK_VIEW_H
#define MESHPLAN_RUNTIME_EXEC_RANK_VIEW_H

#include "runtime/artifact/artifact.h"
#include "runtime/artifact/sharding.h"
#include "runtime/data/slice.h"

namespace meshplan {

/// One rank's view of a program: which part of each value it holds. Values are indices into Program.values. Cheap to
/// copy; the artifact must outlive it. Thread safe.
class RankView {
public:
  RankView(const artifact::Schedule &schedule, const artifact::Program &program, int64_t rank);

  const artifact::Schedule &schedule() const { return *scheduleTable; }
  const artifact::Program &program() const { return *programTable; }
  int64_t rank() const { return ownRank; }
  int64_t worldSize() const { return worldSizeOf(meshSizes); }

  /// The same program seen from another rank.
  RankView peer(int64_t rank) const { return {*scheduleTable, *programTable, rank}; }

  const artifact::Value &value(int index) const { return *programTable->values()->Get(index); }
  DType dtype(int index) const { return meshplan::dtypeOf(value(index).dtype()); }
  bool isOnHost(int index) const { return value(index).host(); }

  /// The rows of a routed value for which the plan reserves memory.
  int64_t reservedRows(int index) const {
    return localShapeOf(value(index), meshSizes, coordinate, RowLoad::reserved).front();
  }

  /// The shape of the rank's tensor.
  std::vector<int64_t> shape(int index) const { return localShapeOf(value(index), meshSizes, coordinate); }

  /// `ranges`: the part of the global tensor that the sharding of the dims gives to the rank. `run`: which elements of
  /// that part, in row-major order, its tensor has; all of them unless the value is flat.
  SliceRanges ranges(int index) const { return localRangesOf(value(index), meshSizes, coordinate); }
  Range run(int index) const { return localRunOf(value(index), meshSizes, coordinate); }

  /// The slices of the global tensor whose elements, concatenated, are the rank's tensor.
  std::vector<SliceRanges> slices(int index) const;

  /// The part of the rank's shard that no lower shard holds (firstHeldRanges in extent.h). Ranks that hold the same
  /// shard have the same part.
  SliceRanges firstHeld(int index) const;

  /// The position in the global tensor of an element of the rank's tensor, counted in row-major order.
  std::vector<int64_t> globalPosition(int index, int64_t element) const;

  /// The value of the expression on this rank.
  int64_t evaluate(const artifact::IntExpr &expression) const;

  /// The ranks of this rank's group of the communicator, in order.
  std::vector<int64_t> group(const artifact::Communicator &communicator) const;

  /// The number of ranks that hold the same shard of the value as this rank, which is equal for all shards; and the
  /// position of this rank among them, in rank order.
  int64_t holders(int index) const;
  int64_t indexAmongHolders(int index) const;

  /// True if this rank is the first holder of its shard in rank order. It writes outputs and reports for the shard;
  /// checkpoints distribute their writes over all holders (checkpoint/snapshot.h).
  bool isFirstHolder(int index) const { return indexAmongHolders(index) == 0; }

private:
  const artifact::Schedule *scheduleTable;
  const artifact::Program *programTable;
  int64_t ownRank;
  std::vector<int64_t> meshSizes, coordinate;
};

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_EXEC_RANK_VIEW_H
