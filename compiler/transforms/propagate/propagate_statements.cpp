//===- propagate_statements.cpp - obeys layouts that the plan states ------===//

#include "compiler/transforms/propagate/propagation.h"

using namespace mlir;
using namespace meshplan;
using namespace meshplan::plan;

/// The axes of a dim that is divided over `now` when a statement divides it over `stated`. `others` are the axes of
/// `now` that the statement does not cover. If the dim is divided over the stated axes already, nothing changes;
/// otherwise the stated axes become the minor ones.
static AxisList statedAxes(ArrayRef<AxisRefAttr> now, ArrayRef<AxisRefAttr> others, ArrayRef<AxisRefAttr> stated) {
  AxisList same;
  llvm::copy_if(now, std::back_inserter(same), [&](AxisRefAttr axis) { return llvm::is_contained(stated, axis); });
  // For example, a dim over {tp, dp} stays as it is when a statement asks for {tp}: putting tp last would move data for
  // nothing.
  if (ArrayRef<AxisRefAttr>(same) == stated && same.size() + others.size() == now.size())
    return AxisList(now);
  AxisList axes(others);
  axes.append(stated.begin(), stated.end());
  return axes;
}

LogicalResult Propagation::visitConstrain(ConstrainOp constrain) {
  statements.add(constrain);
  Cause cause{constrain.getLoc(), constrain.getStyleAttr()};
  AxisList stated = toAxes(constrain.getAxes());
  Value value = layouts.current(constrain.getInput());
  // The statement covers this axis and does not ask for addends over it.
  for (AxisRefAttr axis : AxisList(getSharding(value).getPartialAxes()))
    if (overlapsAny(stated, axis) && !overlapsAny(constrain.getLayout().getPartialAxes(), axis))
      value = reduce(value, axis, constrain);
  auto type = cast<RankedTensorType>(value.getType());
  // A statement is about its own axes only: they are removed from the dims that it does not give them, and all other
  // axes stay.
  ShardingAttr target = without(type, stated, mesh);
  for (auto [index, dim] : llvm::enumerate(constrain.getLayout().getDims())) {
    if (dim.getAxes().empty())
      continue;
    AxisList axes =
        statedAxes(getSharding(value).getDims()[index].getAxes(), target.getDims()[index].getAxes(), dim.getAxes());
    target = target.withDim(index, divideFurther(type.getDimSize(index), axes, dim, mesh));
    if (failed(checkDivides(constrain, index, axes)))
      return failure();
  }
  reportRedistributed(constrain, value, target);
  if (constrain.getLayout().isFlat())
    target = target.withFlat(constrain.getLayout().getFlatAxes());
  Value made = layouts.obtain(constrain.getInput(), target, constrain, cause);
  for (AxisRefAttr axis : stated)
    layouts.setCause(made, axis, cause);
  // divideProducer must not overrule the plan.
  statedValues.insert(made);
  constrain.getResult().replaceAllUsesWith(made);
  return success();
}

void Propagation::reportRedistributed(ConstrainOp constrain, Value value, ShardingAttr to) {
  if (!llvm::any_of(llvm::zip(getSharding(value).getDims(), to.getDims()),
                    [](auto dims) { return isRedistributed(std::get<0>(dims), std::get<1>(dims)); }))
    return;
  strictFailure |= strict;
  if (isFirstReport(constrain.getLoc(), "redistributed"))
    reportOtherDivision(constrain, value, to, mesh, causingStatement(value, to), strict);
}

LogicalResult Propagation::checkDivides(ConstrainOp constrain, int64_t dim, ArrayRef<AxisRefAttr> axes) {
  int64_t extent = constrain.getInput().getType().getDimSize(dim), shards = shardCount(axes, mesh);
  if (extent >= shards)
    return success();
  if (isFirstReport(constrain.getLoc(), "small dim"))
    reportSmallDim(constrain, dim, shards);
  return failure();
}

/// True if gradients are reduced in each microbatch before they are accumulated, because ranks have no memory for the
/// whole gradient.
static bool reducesEachMicrobatch(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  DataOp data = argument ? dataOf(argument) : DataOp();
  return data && data.getReduceEach();
}

std::optional<Cause> Propagation::placementOf(Value weight, bool isFlat) {
  auto argument = dyn_cast<BlockArgument>(weight);
  if (!argument || !isWeight(argument))
    return std::nullopt;
  if (DataOp data = isFlat ? dataOf(argument) : DataOp())
    return Cause{data.getLoc(), data.getTextAttr()};
  StringAttr style = styleOf(argument);
  return style ? std::optional(Cause{argument.getLoc(), style}) : std::nullopt;
}

void Propagation::visitMatch(MatchOp match) {
  Value gradient = layouts.current(match.getGradient());
  ShardingAttr from = getSharding(gradient), to = getSharding(match.getValue()).withoutPartial();
  if (std::optional<ArrayAttr> flat = match.getFlat())
    to = to.withFlat(toAxes(*flat));
  // Gradients of rows stay addends, as rows do (isPartialShared), or parts of the features.
  if (base::RoutedAttr rows = routed.get(match.getValue())) {
    if (from.getDims().take_front(rows.getDims()) == to.getDims().take_front(rows.getDims()))
      to = from;
    else if (llvm::none_of(allAxes(to), [&](AxisRefAttr axis) { return overlapsAny(from.getPartialAxes(), axis); }))
      to = to.withPartial(from.getReduction(), from.getPartialAxes());
  }
  // The cause of the reshard: the statement that divides the value, over whose axes ranks have addends, or that shards
  // the storage.
  std::optional<Cause> cause =
      from.isPartial() ? layouts.causeOf(gradient, from.getPartialAxes().front()) : causingStatement(match.getValue());
  bool isSharedOut = from.isFlat() || to.isFlat();
  if (std::optional<Cause> placement = placementOf(match.getValue(), isSharedOut);
      placement && (from.isPartial() || isSharedOut))
    cause = placement;
  // Rows go back to the ranks of their tokens as they came: by the statement that divides the experts.
  auto sender = match.getValue().getDefiningOp<CallOp>();
  if (sender && routed.get(match.getValue()) && !from.isPartial())
    if (std::optional<Cause> route = causeOfRows(sender))
      cause = route;
  Cause known = cause.value_or(Cause{match.getLoc(), StringAttr()});
  // First over ranks, still partial over time: the accumulator then has the size of the shard.
  if (reducesEachMicrobatch(match.getValue()))
    gradient = layouts.obtain(gradient, to.withPartial(from.getReduction(), timeAxesOf(from)), match, known);
  Value made = layouts.obtain(gradient, to, match, known);
  for (AxisRefAttr axis : allAxes(to))
    if (std::optional<Cause> own = layouts.causeOf(match.getValue(), axis))
      layouts.setCause(made, axis, *own);
  match.getResult().replaceAllUsesWith(made);
}

/// The layout of a microbatch is that of the batch, and the layout of a microbatch's own value stays. Causes are
/// copied.
void Propagation::decideAs(Value result, ShardingAttr sharding, Value like) {
  layouts.decide(result, sharding);
  for (AxisRefAttr axis : allAxes(getSharding(like)))
    if (std::optional<Cause> cause = layouts.causeOf(like, axis))
      layouts.setCause(result, axis, *cause);
}

void Propagation::visitEnter(EnterMicrobatchOp enter) {
  decideAs(enter.getResult(), enter.getResultSharding(), enter.getInput());
}

void Propagation::visitLeave(LeaveMicrobatchOp leave) {
  Value own = layouts.current(leave.getInput());
  // Only a sum can be continued over time: addends of ranks and of microbatches are then reduced together. A maximum of
  // ranks is reduced in each microbatch.
  if (getSharding(own).getReduction() != Reduction::sum)
    for (AxisRefAttr axis : AxisList(getSharding(own).getPartialAxes()))
      own = reduce(own, axis, leave);
  leave.getInputMutable().assign(own);
  decideAs(leave.getResult(), leave.getResultSharding(), own);
  layouts.setCause(leave.getResult(), timeAxesOf(getSharding(leave.getResult())).front(),
                   Cause{leave.getLoc(), leave.getTextAttr()});
}
