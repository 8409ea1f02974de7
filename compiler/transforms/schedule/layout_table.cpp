//===- layout_table.cpp - resolves shardings to layouts of sched ----------===//

#include "compiler/transforms/schedule/layout_table.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;

namespace meshplan {

LayoutTable::LayoutTable(plan::MeshOp mesh, RowLoad load) : mesh(mesh), load(load) {
  for (int64_t index = 0, end = mesh ? mesh.getAxes().size() : 0; index < end; ++index)
    meshSizes.push_back(mesh.getAxisSize(index));
  // Shards differ by at most one block. The first shard of a dim is always the largest, the last one the smallest (see
  // `shardRange`), so that two ranks bound the memory of all of them.
  coordinates.emplace_back(meshSizes.size(), 0);
  if (mesh && mesh.getWorldSize() > 1)
    coordinates.push_back(llvm::map_to_vector(meshSizes, [](int64_t size) { return size - 1; }));
}

/// Adds a class for each shard of a dim with shared blocks, until the pattern of sizes repeats.
void LayoutTable::addSharers(plan::DimShardingAttr dim, int64_t extent) {
  SmallVector<meshplan::AxisRef> axes = resolve(dim.getAxes());
  // For 9 counts of 3 key heads over 4 shards, the shards have 1, 1, 2 and 1 heads (runtime/schema/extent.h): the
  // largest is neither the first nor the last.
  int64_t shards = meshplan::shardPattern(plan::resolveDim(extent, dim, mesh));
  SmallVector<int64_t> first(meshSizes.size(), 0);
  std::vector<int64_t> ranks = meshplan::groupOf(axes, meshSizes, first);
  for (int64_t index = 1; index < shards; ++index) {
    std::vector<int64_t> coordinate = meshplan::coordinateOfRank(ranks[index], meshSizes);
    SmallVector<int64_t> own(coordinate.begin(), coordinate.end());
    // The order of classes has a meaning: first the largest, last the smallest shards.
    if (!llvm::is_contained(coordinates, own))
      coordinates.insert(std::prev(coordinates.end()), own);
  }
}

void LayoutTable::addRankClasses(func::FuncOp function) {
  llvm::DenseSet<std::pair<plan::DimShardingAttr, int64_t>> seen;
  auto look = [&](Type type) {
    plan::ShardingAttr sharding = plan::getSharding(type);
    for (int64_t dim = 0; mesh && sharding && dim < sharding.getRank(); ++dim) {
      plan::DimShardingAttr division = sharding.getDims()[dim];
      int64_t extent = cast<RankedTensorType>(type).getDimSize(dim);
      // Shared blocks overlap between neighbours, so that the largest shard may be any of them.
      if (plan::isShared(division) && seen.insert({division, extent}).second)
        addSharers(division, extent);
    }
  };
  for (Type type : function.getArgumentTypes())
    look(type);
  function.walk([&](Operation *op) { llvm::for_each(op->getResultTypes(), look); });
}

SmallVector<meshplan::AxisRef> LayoutTable::resolve(ArrayRef<plan::AxisRefAttr> axes) {
  return llvm::map_to_vector(axes, [&](plan::AxisRefAttr axis) { return plan::resolveAxis(axis, mesh); });
}

static SmallVector<sched::AxisAttr> toAxisAttrs(MLIRContext *context, ArrayRef<meshplan::AxisRef> axes) {
  return llvm::map_to_vector(axes, [&](const meshplan::AxisRef &axis) {
    return sched::AxisAttr::get(context, axis.axis, axis.pre, axis.size);
  });
}

sched::ShardedTensorType LayoutTable::resolveType(RankedTensorType type) {
  MLIRContext *context = type.getContext();
  plan::ShardingAttr sharding = plan::getSharding(type);
  SmallVector<sched::DimAttr> dims;
  for (auto [index, extent] : llvm::enumerate(type.getShape())) {
    if (!sharding || !mesh) {
      dims.push_back(sched::DimAttr::get(context, extent, {}, 1, {}));
      continue;
    }
    plan::DimShardingAttr dim = sharding.getDims()[index];
    dims.push_back(sched::DimAttr::get(context, extent, toAxisAttrs(context, resolve(dim.getAxes())), dim.getUnit(),
                                       dim.getParts(), dim.getRepeat()));
  }
  if (!sharding || !mesh)
    return sched::ShardedTensorType::get(context, dims, type.getElementType(), sched::Reduction::none, {}, {},
                                         sharding ? sharding.getRouted() : base::RoutedAttr());
  return sched::ShardedTensorType::get(context, dims, type.getElementType(), sharding.getReduction(),
                                       toAxisAttrs(context, resolve(sharding.getPartialAxes())),
                                       toAxisAttrs(context, resolve(sharding.getFlatAxes())), sharding.getRouted());
}

ResolvedLayout LayoutTable::build(RankedTensorType type) {
  ResolvedLayout layout;
  layout.type = resolveType(type);
  for (ArrayRef<int64_t> coordinate : coordinates) {
    layout.local.push_back(
        RankedTensorType::get(sched::localShape(layout.type, meshSizes, coordinate, load), type.getElementType()));
    layout.bytes.push_back(sched::localBytes(layout.type, meshSizes, coordinate, load));
  }
  return layout;
}

const ResolvedLayout &LayoutTable::get(Type type) {
  auto [entry, inserted] = known.try_emplace(type);
  if (inserted)
    entry->second = build(cast<RankedTensorType>(type));
  return entry->second;
}

bool isDecided(Type type) {
  plan::ShardingAttr sharding = plan::getSharding(type);
  return sharding && sharding.isClosed();
}

} // namespace meshplan
