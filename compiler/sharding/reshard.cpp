//===- reshard.cpp - plans a reshard as a list of steps -------------------===//
//
// The order of the steps in changeDims is by price. A slice is free and makes what follows smaller, so it comes first.
// A sum comes before any movement, because addends that are moved must still be summed. A permutation and an all-to-all
// keep the local size; an all-gather multiplies it, so it is the last resort.
//
// Example on a mesh dp = 2, tp = 3, where no dim may take its axis before the other has given it up: a tensor [6, 12].
//
//   [{dp}, {tp}] -> [{tp}, {dp}]
//
//   step                     sharding       local
//                            [{dp}, {tp}]   3 x 4
//   all-gather dp dim 0      [{}, {tp}]     6 x 4
//   all-to-all tp dim 1 to 0 [{tp}, {}]     2 x 12
//   slice dp dim 1           [{tp}, {dp}]   2 x 6
//
// A permutation does not apply, because dim 0 changes from 2 shards to 3. After the gather dim 0 is whole, so that tp
// can be its next axis.

#include "compiler/sharding/reshard.h"
#include "dialect/plan/reshard_steps.h"
#include "llvm/ADT/STLExtras.h"

using namespace meshplan;
using namespace meshplan::plan;
using llvm::ArrayRef;
using llvm::SmallVector;

namespace {
/// The state of a reshard: the current sharding and the steps so far. Functions that return bool add at most one step,
/// and return true if they did.
class Planner {
public:
  Planner(mlir::RankedTensorType from, ShardingAttr to, MeshOp mesh)
      : shape(from.getShape()), current(getSharding(from)), target(to), mesh(mesh) {}

  SmallVector<ReshardStep> run();

private:
  /// Sums over time first. This is local (microbatches accumulate), and no later step then moves addends of several
  /// microbatches.
  void accumulate();

  /// Adds steps until dims and partial axes are those of `target`.
  void changeDims();

  /// Adds one step towards the flat axes `wanted`; false if they are reached.
  bool changeFlat(ArrayRef<AxisRefAttr> wanted);

  ArrayRef<AxisRefAttr> axesOf(ShardingAttr sharding, int64_t dim) const { return sharding.getDims()[dim].getAxes(); }

  /// The dim with only its `count` most major axes.
  DimShardingAttr leadingDim(DimShardingAttr sharding, int64_t dim, size_t count) const;

  /// Number of leading axes under which both dims are divided alike: axes below them only move data within these
  /// shards.
  size_t commonAxes(int64_t dim) const;

  /// The axes that the target has in a dim beyond the current ones. Empty unless the current axes are a prefix of the
  /// target's.
  ArrayRef<AxisRefAttr> missing(int64_t dim) const;

  /// The minor axes of a dim that the target does not have at that position.
  ArrayRef<AxisRefAttr> surplus(int64_t dim) const { return axesOf(current, dim).drop_front(commonAxes(dim)); }

  bool isDividing(AxisRefAttr axis) const;

  /// True if the partial axes contain exactly this axis, so that a reduce-scatter over it is possible.
  bool scatters(AxisRefAttr axis) const { return llvm::is_contained(current.getPartialAxes(), axis); }

  bool isPartial(AxisRefAttr axis) const { return overlapsAny(current.getPartialAxes(), axis); }

  void addStep(std::optional<CollectiveKind> kind, ArrayRef<AxisRefAttr> axes, int64_t dim, int64_t fromDim,
               ShardingAttr result);

  /// `sharding` with further axes of the target in a dim.
  ShardingAttr appended(ShardingAttr sharding, int64_t dim, ArrayRef<AxisRefAttr> axes) const;

  /// `sharding` without the `dropped` most minor axes of a dim.
  ShardingAttr shortened(ShardingAttr sharding, int64_t dim, size_t dropped) const;

  /// True if every shard of the dim has the same size.
  bool isEven(DimShardingAttr sharding, int64_t dim) const;
  ShardingAttr withoutPartialAxes(ArrayRef<AxisRefAttr> axes) const;

  /// The leading axes of `axes` for which `holds`.
  template <typename Predicate> static ArrayRef<AxisRefAttr> leading(ArrayRef<AxisRefAttr> axes, Predicate holds) {
    return axes.take_while(holds);
  }

  /// Slices over time. Applies where microbatches are contiguous in the batch and every rank holds its part of each.
  bool takeMicrobatch();

  /// Slices a dim over the next axes of the target that are free. Slicing first makes later steps move less data, and
  /// may make a reduce-scatter possible.
  bool sliceMissing();

  /// One reduce-scatter where the next axes of a dim in the target are partial; otherwise one all-reduce over all axes
  /// to reduce.
  bool reducePartial();

  /// Ends sharing where a dim with shared blocks has surplus axes: each rank keeps only its own blocks. Collectives
  /// cannot take or produce shared blocks; only slices can.
  bool keepOwn();

  /// One permutation, if every dim has its final number of shards but other axes.
  bool permute();

  /// One all-to-all that moves minor axes of one dim to another dim, which needs them next.
  bool exchange();

  /// Gathers the surplus axes of the first dim that has any.
  void gather();

  ArrayRef<int64_t> shape;
  ShardingAttr current, target;
  MeshOp mesh;
  SmallVector<ReshardStep> steps;
};
} // namespace

SmallVector<ReshardStep> Planner::run() {
  ShardingAttr wanted = target;
  accumulate();
  // Flat axes divide the shard that the dims leave. If the dims change, every flat run of elements changes, so the flat
  // axes are gathered even if they stay the same.
  bool keepsDims = current.getDims() == wanted.getDims();
  if (current.isFlat() && (!keepsDims || current.getFlatAxes() != wanted.getFlatAxes()))
    addStep(CollectiveKind::all_gather, current.getFlatAxes(), -1, -1, current.withFlat({}));
  if (!keepsDims) {
    // Partial axes that become flat are kept until then: changeFlat reduce-scatters over them.
    AxisList kept;
    llvm::copy_if(current.getPartialAxes(), std::back_inserter(kept), [&](AxisRefAttr axis) {
      return llvm::is_contained(wanted.getPartialAxes(), axis) || llvm::is_contained(wanted.getFlatAxes(), axis);
    });
    target = wanted.withFlat({}).withPartial(current.getReduction(), kept);
    changeDims();
    target = wanted;
  }
  // Flat axes come before the last reductions: an all-reduce over other axes then runs on the flat shard only.
  while (changeFlat(wanted.getFlatAxes())) {
  }
  changeDims();
  return std::move(steps);
}

void Planner::accumulate() {
  AxisList reduced = without(current.getPartialAxes(), target.getPartialAxes());
  auto *time = llvm::find_if(reduced, isTime);
  if (time != reduced.end())
    addStep(CollectiveKind::all_reduce, *time, -1, -1, withoutPartialAxes(*time));
}

void Planner::changeDims() {
  while (current != target)
    if (!takeMicrobatch() && !sliceMissing() && !reducePartial() && !keepOwn() && !permute() && !exchange())
      gather();
}

bool Planner::changeFlat(ArrayRef<AxisRefAttr> wanted) {
  ArrayRef<AxisRefAttr> rest = wanted.drop_front(current.getFlatAxes().size());
  if (rest.empty())
    return false;
  bool isScattered = scatters(rest.front());
  if (!isScattered && isPartial(rest.front())) {
    // The digits of the flat axes and of the partial axes overlap without being equal. A reduce-scatter over one digit
    // would leave addends over the others, so the sum must be complete first.
    AxisList whole = without(current.getPartialAxes(), without(current.getPartialAxes(), rest.front()));
    addStep(CollectiveKind::all_reduce, whole, -1, -1, withoutPartialAxes(whole));
    return true;
  }
  // One step takes all next axes of the same kind: partial ones in one reduce-scatter, free ones in one slice.
  auto isAlike = [&](AxisRefAttr axis) { return scatters(axis) == isScattered && (isScattered || !isPartial(axis)); };
  ArrayRef<AxisRefAttr> axes = rest.take_while(isAlike);
  ShardingAttr result = isScattered ? withoutPartialAxes(axes) : current;
  result = result.withFlat(wanted.take_front(current.getFlatAxes().size() + axes.size()));
  addStep(isScattered ? std::optional(CollectiveKind::reduce_scatter) : std::nullopt, axes, -1, -1, result);
  return true;
}

DimShardingAttr Planner::leadingDim(DimShardingAttr sharding, int64_t dim, size_t count) const {
  return dropMinorAxes(shape[dim], sharding, sharding.getAxes().size() - count, mesh);
}

size_t Planner::commonAxes(int64_t dim) const {
  DimShardingAttr now = current.getDims()[dim], then = target.getDims()[dim];
  size_t common = 0;
  while (common < std::min(now.getAxes().size(), then.getAxes().size()) &&
         now.getAxes()[common] == then.getAxes()[common])
    ++common;
  // Equal axes are not sufficient: with other blocks or parts the same axes hold other elements. The shards agree again
  // after dropping enough minor axes, because shards of a coarser division are unions of finer ones.
  while (common > 0 && leadingDim(now, dim, common) != leadingDim(then, dim, common))
    --common;
  return common;
}

ArrayRef<AxisRefAttr> Planner::missing(int64_t dim) const {
  ArrayRef<AxisRefAttr> now = axesOf(current, dim), then = axesOf(target, dim);
  return then.size() > now.size() && commonAxes(dim) == now.size() ? then.drop_front(now.size())
                                                                   : ArrayRef<AxisRefAttr>();
}

bool Planner::isDividing(AxisRefAttr axis) const {
  return llvm::any_of(current.getDims(), [&](DimShardingAttr dim) { return overlapsAny(dim.getAxes(), axis); });
}

void Planner::addStep(std::optional<CollectiveKind> kind, ArrayRef<AxisRefAttr> axes, int64_t dim, int64_t fromDim,
                      ShardingAttr result) {
  steps.push_back({kind, AxisList(axes), dim, fromDim, result});
  current = result;
}

ShardingAttr Planner::appended(ShardingAttr sharding, int64_t dim, ArrayRef<AxisRefAttr> axes) const {
  size_t count = axesOf(sharding, dim).size() + axes.size();
  return sharding.withDim(dim, leadingDim(target.getDims()[dim], dim, count));
}

ShardingAttr Planner::shortened(ShardingAttr sharding, int64_t dim, size_t dropped) const {
  return sharding.withDim(dim, dropMinorAxes(shape[dim], sharding.getDims()[dim], dropped, mesh));
}

bool Planner::isEven(DimShardingAttr sharding, int64_t dim) const {
  return sharding.getUnit() == 1 && sharding.getParts().empty() && !isShared(sharding) &&
         shape[dim] % shardCount(sharding.getAxes(), mesh) == 0;
}

ShardingAttr Planner::withoutPartialAxes(ArrayRef<AxisRefAttr> axes) const {
  return current.withPartial(current.getReduction(), without(current.getPartialAxes(), axes));
}

bool Planner::takeMicrobatch() {
  for (int64_t dim = 0; dim < current.getRank(); ++dim) {
    DimShardingAttr then = target.getDims()[dim];
    if (!isRunOfBatch(then) || current.getDims()[dim] != batchOfRuns(shape[dim], then, mesh))
      continue;
    addStep(std::nullopt, then.getAxes().front(), dim, -1, current.withDim(dim, then));
    return true;
  }
  return false;
}

bool Planner::sliceMissing() {
  // Ranks along a free axis hold the same elements, so each can keep its own part without asking the others. Along an
  // axis that divides another dim they hold different elements, and along a partial axis addends.
  auto isFree = [&](AxisRefAttr axis) { return !isDividing(axis) && !isPartial(axis); };
  for (int64_t dim = 0; dim < current.getRank(); ++dim) {
    ArrayRef<AxisRefAttr> axes = leading(missing(dim), isFree);
    if (axes.empty())
      continue;
    addStep(std::nullopt, axes, dim, -1, appended(current, dim, axes));
    return true;
  }
  return false;
}

bool Planner::reducePartial() {
  AxisList reduced = without(current.getPartialAxes(), target.getPartialAxes());
  if (reduced.empty())
    return false;
  auto isReduced = [&](AxisRefAttr axis) { return llvm::is_contained(reduced, axis); };
  for (int64_t dim = 0; dim < current.getRank(); ++dim) {
    ArrayRef<AxisRefAttr> scattered = leading(missing(dim), isReduced);
    // Neighbours would both need a shared block, but a reduce-scatter sends each element to one rank. Rows of experts
    // have none: ranks do not know how many others have.
    if (scattered.empty() || isShared(target.getDims()[dim]) || target.getRouted())
      continue;
    addStep(CollectiveKind::reduce_scatter, scattered, dim, -1,
            appended(withoutPartialAxes(scattered), dim, scattered));
    return true;
  }
  // One collective for all remaining axes. The sum is needed whole, or a dim that takes it must first get other axes.
  addStep(CollectiveKind::all_reduce, reduced, -1, -1, withoutPartialAxes(reduced));
  return true;
}

bool Planner::keepOwn() {
  for (int64_t dim = 0; dim < current.getRank(); ++dim) {
    DimShardingAttr now = current.getDims()[dim];
    if (!isShared(now) || surplus(dim).empty())
      continue;
    addStep(std::nullopt, {}, dim, -1, current.withDim(dim, ownUnits(shape[dim], now, mesh)));
    return true;
  }
  return false;
}

bool Planner::permute() {
  AxisList moved;
  for (int64_t dim = 0; dim < current.getRank(); ++dim) {
    if (shardCount(axesOf(current, dim), mesh) != shardCount(axesOf(target, dim), mesh))
      return false;
    DimShardingAttr now = current.getDims()[dim], then = target.getDims()[dim];
    if (now == then)
      continue;
    // A permutation sends whole shards, so all shards must have one size under both divisions.
    if (!isEven(now, dim) || !isEven(then, dim))
      return false;
    // Shards stay inside those of the major axes that both divisions have: no rank outside, and no microbatch, takes
    // part.
    for (ArrayRef<AxisRefAttr> side : {now.getAxes(), then.getAxes()})
      for (AxisRefAttr axis : side.drop_front(commonAxes(dim)))
        addAxis(moved, axis, mesh);
  }
  // The step ends at `target`, so nothing but the assignment of shards to ranks may differ.
  if (current.getPartialAxes() != target.getPartialAxes() || moved.empty())
    return false;
  addStep(CollectiveKind::permute, moved, -1, -1, target);
  return true;
}

bool Planner::exchange() {
  for (int64_t from = 0; from < current.getRank(); ++from) {
    ArrayRef<AxisRefAttr> extra = surplus(from);
    // Prefer to move as many axes at once as possible.
    for (size_t count = extra.size(); count > 0; --count) {
      // Only the most minor axes of a dim can leave it while the elements under its other axes stay on their ranks.
      ArrayRef<AxisRefAttr> moved = extra.take_back(count);
      for (int64_t to = 0; to < current.getRank(); ++to) {
        // An all-to-all sends each element to one rank, but neighbours would both need a shared block.
        if (to == from || missing(to).size() < count || missing(to).take_front(count) != moved ||
            isShared(target.getDims()[to]))
          continue;
        addStep(CollectiveKind::all_to_all, moved, to, from, appended(shortened(current, from, count), to, moved));
        return true;
      }
    }
  }
  return false;
}

void Planner::gather() {
  for (int64_t dim = 0; dim < current.getRank(); ++dim) {
    ArrayRef<AxisRefAttr> extra = surplus(dim);
    if (extra.empty())
      continue;
    addStep(CollectiveKind::all_gather, extra, dim, -1, shortened(current, dim, extra.size()));
    return;
  }
  llvm_unreachable("a sharding without surplus, missing or partial axes is the target");
}

SmallVector<ReshardStep> meshplan::planReshard(mlir::RankedTensorType from, ShardingAttr to, MeshOp mesh) {
  return Planner(from, to, mesh).run();
}

static double sentBytes(CollectiveKind kind, mlir::RankedTensorType before, mlir::RankedTensorType after,
                        ArrayRef<AxisRefAttr> axes, MeshOp mesh) {
  return base::sentBytes(kind, largestShardBytes(before, mesh), largestShardBytes(after, mesh), shardCount(axes, mesh));
}

double meshplan::reshardBytes(mlir::RankedTensorType from, ShardingAttr to, MeshOp mesh) {
  double bytes = 0;
  for (const ReshardStep &step : planReshard(from, to, mesh)) {
    mlir::RankedTensorType next = withSharding(from, step.result);
    bytes += step.kind ? ::sentBytes(*step.kind, from, next, step.axes, mesh) : 0;
    from = next;
  }
  return bytes;
}

double meshplan::sentBytes(mlir::Operation *collective, MeshOp mesh) {
  return ::sentBytes(*collectiveKindOf(collective), typeOf(collective->getOperand(0)), typeOf(collective->getResult(0)),
                     toAxes(stepAxes(collective)), mesh);
}
