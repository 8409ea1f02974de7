//===- packing_table.cpp - what collectives pack on each rank -------------===//

#include "compiler/transforms/schedule/packing_table.h"
#include "compiler/sharding/axes.h"
#include "compiler/sharding/dataflow/routed_values.h"
#include "dialect/plan/reshard_steps.h"

using namespace mlir;

namespace meshplan {

ClassPacking PackingTable::get(ArrayRef<Operation *> ops) {
  Operation *first = ops.front();
  // Rows of experts are in the order in which they are exchanged, and are copied to their features where they arrive.
  if (routedOf(first->getOperand(0)))
    return ClassPacking(layouts.rankClasses(), Packing());
  // Without a dim, tensors are flat or reduced whole, and may be coalesced.
  if (!plan::stepDim(first))
    return ClassPacking(layouts.rankClasses(), coalesced(ops));
  auto [entry, isNew] =
      known.try_emplace({first->getOperand(0).getType(), first->getResult(0).getType(), plan::stepAxes(first)});
  if (isNew)
    entry->second = alongDims(first);
  return entry->second;
}

/// For each dim, the ranges that the rank at `coordinate` holds.
static std::vector<std::vector<Range>> rangesOf(sched::ShardedTensorType type, ArrayRef<int64_t> meshSizes,
                                                ArrayRef<int64_t> coordinate) {
  std::vector<std::vector<Range>> ranges;
  for (sched::DimAttr dim : type.getDims())
    ranges.push_back(localRanges(sched::toDimSharding(dim), meshSizes, coordinate));
  return ranges;
}

ClassPacking PackingTable::alongDims(Operation *op) {
  ArrayRef<int64_t> meshSizes = layouts.axisSizes();
  SmallVector<AxisRef> axes = layouts.resolve(toAxes(plan::stepAxes(op)));
  const ResolvedLayout input = layouts.get(op->getOperand(0).getType());
  const ResolvedLayout result = layouts.get(op->getResult(0).getType());
  ClassPacking packing;
  for (unsigned rankClass = 0; rankClass < layouts.rankClasses(); ++rankClass) {
    ArrayRef<int64_t> own = layouts.coordinate(rankClass);
    std::vector<int64_t> group = groupOf(axes, meshSizes, own);
    std::vector<std::vector<std::vector<Range>>> before, after;
    for (int64_t rank : group) {
      std::vector<int64_t> coordinate = coordinateOfRank(rank, meshSizes);
      before.push_back(rangesOf(input.type, meshSizes, coordinate));
      after.push_back(rangesOf(result.type, meshSizes, coordinate));
    }
    auto position = llvm::find(group, rankOfCoordinate(own, meshSizes)) - group.begin();
    packing.push_back(packingOf(*plan::collectiveKindOf(op), exchangedPieces(before, after, position),
                                input.local[rankClass].getShape(), result.local[rankClass].getShape()));
  }
  return packing;
}

Packing PackingTable::coalesced(ArrayRef<Operation *> ops) const {
  auto inputs = llvm::map_to_vector(ops, [](Operation *op) { return op->getOperand(0); });
  auto targets = llvm::map_to_vector(ops, [](Operation *op) { return targetOf(op); });
  bool haveTargets = targets.front() != nullptr;
  return packingOfCoalesced(*plan::collectiveKindOf(ops.front()), ops.size(), storages.areAdjacent(inputs),
                            haveTargets && storages.areAdjacent(targets));
}

} // namespace meshplan
