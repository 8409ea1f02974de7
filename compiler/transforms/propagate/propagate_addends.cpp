//===- propagate_addends.cpp - reduces partial values ---------------------===//

#include "compiler/sharding/dataflow/carriers.h"
#include "compiler/sharding/partial_operands.h"
#include "compiler/transforms/propagate/propagation.h"
#include "dialect/plan/attributes.h"

using namespace mlir;
using namespace meshplan;
using namespace meshplan::plan;

Value Propagation::reduce(Value value, AxisRefAttr axis, Operation *user) {
  // Time is reduced first, so that the accumulated value is moved only once.
  if (!isTime(axis))
    for (AxisRefAttr time : timeAxesOf(getSharding(value)))
      value = reduce(value, time, user);
  ShardingAttr sharding = getSharding(value);
  AxisList rest = without(sharding.getPartialAxes(), axis);
  ShardingAttr reduced = sharding.withPartial(sharding.getReduction(), rest);
  // Microbatches cannot hold parts of their sum: it is complete only after the last of them. Only sums have a
  // reduce-scatter that the plan can ask for, and flat axes divide elements without regard to dims.
  // Rows of experts stay on the ranks of their experts and tokens.
  bool mayScatter =
      sharding.getReduction() == Reduction::sum && !sharding.isFlat() && !isTime(axis) && !routed.get(value);
  WantedDim wanted = mayScatter ? findWantedDim(value, axis, mesh) : WantedDim();
  // A consumer may want a dim that cannot take the axis, such as one whose shards have too few blocks. The sum is then
  // replicated.
  if (wanted.dim >= 0)
    if (std::optional<DimShardingAttr> divided = extended(value, wanted.dim, reduced.getDims()[wanted.dim], axis))
      reduced = reduced.withDim(wanted.dim, *divided);
  Value made = layouts.obtain(value, reduced, user, causeOf(value, axis));
  if (std::optional<Cause> cause = causeOf(wanted, axis))
    layouts.setCause(made, axis, *cause);
  // Later readers start from the sum, or each would cause a collective of its own.
  layouts.supersede(value, made);
  return made;
}

std::optional<Cause> Propagation::causeOf(const WantedDim &wanted, AxisRefAttr axis) {
  if (ConstrainOp statement = wanted.statement)
    return Cause{statement.getLoc(), statement.getStyleAttr()};
  return wanted.neighbour ? layouts.causeOf(wanted.neighbour, axis) : std::nullopt;
}

std::optional<DimShardingAttr> Propagation::extended(Value value, int64_t dim, DimShardingAttr now, AxisRefAttr axis,
                                                     bool keepsBlocks) {
  int64_t extent = cast<RankedTensorType>(value.getType()).getDimSize(dim);
  AxisList axes(now.getAxes());
  axes.push_back(axis);
  bool byBlocks = now.getAxes().empty() || (keepsBlocks && now.getParts().empty());
  DimShardingAttr divided =
      byBlocks ? divideDim(extent, axes, mesh, blocks.get(value, dim)) : divideDim(extent, axes, mesh, now);
  // The further axis may only divide within the shards that the dim has, or the reduce-scatter would also redistribute.
  bool isFine = !isShared(now) && dropMinorAxes(extent, divided, 1, mesh) == now;
  isFine &= hasBlockForEach(extent, divided, mesh);
  return isFine ? std::optional(divided) : std::nullopt;
}

Cause Propagation::causeOf(Value value, AxisRefAttr axis) {
  return layouts.causeOf(value, axis).value_or(Cause{value.getLoc(), StringAttr()});
}

void Propagation::reducePartialOperands(CallOp call, const FactorRule &rule, const Linearity &linearity) {
  AxisList axes;
  for (Value operand : call.getOperands())
    for (AxisRefAttr axis : getSharding(operand).getPartialAxes())
      // Overlapping digits of one axis are reduced together by the reduction of the first of them.
      if (!overlapsAny(axes, axis))
        axes.push_back(axis);
  // A reduction over another axis also ends the accumulation over microbatches (see reduce), so the addends of other
  // operands must be reduced over time as well. Time is therefore visited last.
  std::stable_partition(axes.begin(), axes.end(), [](AxisRefAttr axis) { return !isTime(axis); });
  for (AxisRefAttr axis : axes) {
    CallProblem problem = makeProblem(call, rule);
    SmallVector<unsigned> rejected = findRejectedPartials(linearity, problem.operands, axis);
    // With several consumers the sum is reduced once, before all of them.
    if (rejected.empty() && isPartialShared(call, axis))
      for (auto [index, operand] : llvm::enumerate(call.getOperands()))
        if (overlapsAny(getSharding(operand).getPartialAxes(), axis))
          rejected.push_back(index);
    for (unsigned index : rejected)
      call->setOperand(index, reduce(call.getOperands()[index], axis, call));
  }
}

bool Propagation::isPartialShared(CallOp call, AxisRefAttr axis) {
  return llvm::any_of(call.getOperands(), [&](Value operand) {
    // Rows of experts stay addends until their tokens are summed, unless a call needs the sums: a token has several
    // rows.
    if (routed.get(operand))
      return false;
    Operation *producer = operand.getDefiningOp();
    // Gradients on the path to a parameter stay addends for all their readers: they are reduced at the parameter.
    bool isKept = producer && producer->hasAttr(attr::KeepsAddends::getNameStr());
    return overlapsAny(getSharding(operand).getPartialAxes(), axis) && !operand.hasOneUse() && !isKept;
  });
}
