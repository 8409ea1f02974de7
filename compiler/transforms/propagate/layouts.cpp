//===- layouts.cpp - the side table of propagation ------------------------===//

#include "compiler/transforms/propagate/layouts.h"
#include "compiler/sharding/layout_text.h"
#include "compiler/sharding/reshard.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace meshplan;
using namespace meshplan::plan;

bool meshplan::isRedistributed(DimShardingAttr before, DimShardingAttr after) {
  return !before.getAxes().empty() && before.getAxes() == after.getAxes() &&
         (before.getUnit() != after.getUnit() || before.getParts() != after.getParts());
}

DimShardingAttr meshplan::divideFurther(int64_t extent, ArrayRef<AxisRefAttr> axes, DimShardingAttr statement,
                                        MeshOp mesh) {
  DimShardingAttr divided = divideDim(extent, axes, mesh, statement);
  // Empty shards would be worse than cut blocks.
  return hasBlockForEach(extent, divided, mesh) ? divided : divideDim(extent, axes, mesh);
}

bool meshplan::movesData(ShardingAttr from, ShardingAttr to) {
  for (auto [before, after] : llvm::zip(from.getDims(), to.getDims()))
    if (after.getAxes().take_front(before.getAxes().size()) != before.getAxes() || isRedistributed(before, after))
      return true;
  return false;
}

void Layouts::decide(Value value, ShardingAttr sharding) {
  value.setType(withSharding(value.getType(), sharding));
  versions[value] = {value};
}

Value Layouts::origin(Value value) const {
  auto found = origins.find(value);
  return found == origins.end() ? value : found->second;
}

Value Layouts::current(Value value) const {
  auto found = currents.find(origin(value));
  // A version that a consumer has asked for is used as it is; only readers of the original value start from the reduced
  // form.
  return found == currents.end() || value != origin(value) ? value : found->second;
}

void Layouts::supersede(Value value, Value reduced) { currents[origin(value)] = reduced; }

bool Layouts::has(Value value, ShardingAttr sharding) const {
  auto found = versions.find(origin(value));
  return found != versions.end() &&
         llvm::any_of(found->second, [&](Value version) { return getSharding(version) == sharding; });
}

/// A value that is not partial cannot become partial.
static bool canReach(ShardingAttr from, ShardingAttr to) {
  return llvm::all_of(to.getPartialAxes(), [&](AxisRefAttr axis) { return overlapsAny(from.getPartialAxes(), axis); });
}

Value Layouts::obtain(Value value, ShardingAttr sharding, Operation *user, const Cause &cause) {
  Value root = origin(value);
  SmallVector<Value, 2> &known = versions[root];
  Value best;
  double bestBytes = 0;
  for (Value version : known) {
    if (getSharding(version) == sharding)
      return version;
    if (!canReach(getSharding(version), sharding))
      continue;
    // The newest of equally cheap versions: it was created for an earlier consumer and may have no other reader.
    double bytes = reshardBytes(cast<RankedTensorType>(version.getType()), sharding, mesh);
    if (!best || bytes <= bestBytes) {
      best = version;
      bestBytes = bytes;
    }
  }
  OpBuilder builder(user);
  Value made = ReshardOp::create(builder, cause.location, withSharding(value.getType(), sharding), best, cause.style);
  origins[made] = root;
  known.push_back(made);
  copyCauses(best, made);
  return made;
}

std::optional<Cause> Layouts::causeOf(Value value, AxisRefAttr axis) const {
  auto found = causes.find(value);
  if (found == causes.end())
    return std::nullopt;
  // Digits of one axis may be from different statements: experts of one, and shards over what they leave of another.
  for (const auto &[own, cause] : found->second)
    if (own.overlaps(axis))
      return cause;
  return std::nullopt;
}

void Layouts::setCause(Value value, AxisRefAttr axis, const Cause &cause) {
  // The first cause stays: it is the statement that divided the value. Later ones about the same axis agree with it.
  if (!causeOf(value, axis))
    causes[value].push_back({axis, cause});
}

/// The axes of each dim, then the partial axes, then the flat axes.
static SmallVector<ArrayRef<AxisRefAttr>> axesByRole(ShardingAttr sharding) {
  SmallVector<ArrayRef<AxisRefAttr>> lists;
  for (DimShardingAttr dim : sharding.getDims())
    lists.push_back(dim.getAxes());
  lists.push_back(sharding.getPartialAxes());
  lists.push_back(sharding.getFlatAxes());
  return lists;
}

void Layouts::copyCauses(Value from, Value to) {
  for (auto [before, after] : llvm::zip(axesByRole(getSharding(from)), axesByRole(getSharding(to))))
    for (AxisRefAttr axis : after)
      // An axis in another role, such as a partial axis that now divides a dim, has another cause: what asked for the
      // reduce-scatter.
      if (overlapsAny(before, axis))
        if (std::optional<Cause> cause = causeOf(from, axis))
          setCause(to, axis, *cause);
}

void Layouts::writeCauses(Operation *op) const {
  SmallVector<std::pair<AxisRefAttr, Cause>> found;
  for (Value result : op->getResults())
    for (ArrayRef<AxisRefAttr> axes : axesByRole(getSharding(result)))
      for (AxisRefAttr axis : axes)
        if (std::optional<Cause> cause = causeOf(result, axis))
          found.push_back({axis, *cause});
  SmallVector<CauseAttr> list;
  llvm::SmallSetVector<AxisRefAttr, 2> seen;
  for (const auto &[axis, cause] : found) {
    // One cause for an axis, unless its digits have several.
    bool isShared = llvm::any_of(found, [&](const auto &other) {
      return other.first.getName() == axis.getName() && other.second.location != cause.location;
    });
    AxisRefAttr named = isShared ? axis : AxisRefAttr::get(op->getContext(), axis.getName());
    if (seen.insert(named))
      list.push_back(CauseAttr::get(op->getContext(), axisText(named), cause.style, cause.location));
  }
  op->setLoc(withCauses(op->getLoc(), list));
}
