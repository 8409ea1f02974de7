//===- propagate_routes.cpp - layouts of rows that go to experts ----------===//
//
// Rows between `meshplan.dispatch` and `meshplan.combine` follow from the choices
// of a router, so that ranks do not know how many rows the others have. Their
// layout is decided where the route is made, by the weights of the experts, and
// every operator takes it from there: tables and rows precede all other operands.
//
// - An axis that divides a dim of a weight other than its experts needs all tokens
//   on each of its ranks: tokens are gathered over it.
// - An axis that divides experts and not tokens: each rank computes the rows of its
//   experts, and the tokens that `combine` gives are addends over it.
// - An axis that divides experts and tokens: rows are exchanged. The table, and the
//   rows that `dispatch` gives and `combine` takes, are of the rank's own tokens; in
//   between they are of the rank's own experts.
//
// Example: mesh dp = 2, tp = 2; tokens [samples over dp, positions over tp];
// weights [8 experts over dp, 64 over tp, 32].
//
//   indices     [samples over dp, positions, 2]              gathered over tp
//   table       [8, samples over dp, positions]
//   dispatch    [8, samples over dp, positions, 32]          of its own tokens
//   reshard     [8 over dp, samples, positions, 32]          of its own experts
//   product     [8 over dp, samples, positions, 64 over tp]
//   ...
//   reshard     [8, samples over dp, positions, 32]
//   combine     [samples over dp, positions, 32]
//
// The experts of a rank must be among those to which it sends: the axes of experts
// that are not exchanged are the major ones, and if there are any, all ranks have
// equally many experts. Else tokens are gathered over all axes of the experts.
//
//===----------------------------------------------------------------------===//

#include "compiler/sharding/dataflow/expert_weights.h"
#include "compiler/sharding/dataflow/module_border.h"
#include "compiler/transforms/propagate/propagation.h"

using namespace mlir;
using namespace meshplan;
using namespace meshplan::plan;

namespace {

/// The axes that divide weights of the experts of a route, and a statement that divides one of them.
struct WeightAxes {
  DimShardingAttr experts; ///< of the first weight whose experts are divided; null if there is none
  AxisList features;       ///< that divide other dims
  BlockArgument divided;   ///< null if no weight is divided
};

} // namespace

/// Every product of the rows reads the counts of the route, beside the weights or biases of the experts; a style of the
/// weight may say where.
static WeightAxes weightAxesOf(CallOp route) {
  WeightAxes axes;
  SmallVector<Operation *> readers(route.getResult(1).getUsers());
  for (size_t next = 0; next < readers.size(); ++next) {
    if (isa<ConstrainOp>(readers[next]))
      llvm::append_range(readers, readers[next]->getUsers());
    auto call = dyn_cast<CallOp>(readers[next]);
    for (BlockArgument weight : call ? weightsOfExperts(call) : SmallVector<BlockArgument>()) {
      ShardingAttr sharding = getSharding(weight);
      if (!sharding || sharding.isReplicated())
        continue;
      for (auto [index, dim] : llvm::enumerate(sharding.getDims())) {
        if (dim.getAxes().empty())
          continue;
        if (index == 0 && !axes.experts)
          axes.experts = dim;
        else if (index != 0)
          axes.features.append(dim.getAxes().begin(), dim.getAxes().end());
        axes.divided = weight;
      }
    }
  }
  return axes;
}

/// The axes of `count` experts over which rows are exchanged: those that also divide tokens, which are the most minor
/// ones, each at the minor end of a dim of tokens, or a digit there.
static AxisList exchangedAxes(ArrayRef<AxisRefAttr> experts, int64_t count, RankedTensorType indices, MeshOp mesh) {
  ShardingAttr rest = getSharding(indices);
  AxisList exchanged;
  while (exchanged.size() < experts.size()) {
    AxisRefAttr next = experts.drop_back(exchanged.size()).back();
    std::optional<ShardingAttr> without = withoutTokenAxis(indices, rest, 0, indices.getRank() - 1, next, mesh);
    if (!without)
      break;
    rest = *without;
    exchanged.insert(exchanged.begin(), next);
  }
  bool isNested = exchanged.size() == experts.size() || count % shardCount(experts, mesh) == 0;
  return isNested ? exchanged : AxisList();
}

void Propagation::visitRoute(CallOp route, const FactorRule &rule, CallProblem &problem) {
  WeightAxes weights = weightAxesOf(route);
  if (!weights.divided)
    return;
  Cause cause{weights.divided.getLoc(), styleOf(weights.divided)};
  routeCauses.try_emplace(route.getResult(0), cause);
  Value indices = route.getOperand(0);
  auto gather = [&](ArrayRef<AxisRefAttr> axes) {
    ShardingAttr gathered = without(typeOf(indices), axes, mesh);
    if (gathered != getSharding(indices))
      indices = layouts.obtain(indices, gathered, route, cause);
  };
  gather(weights.features);
  ArrayRef<AxisRefAttr> experts = weights.experts ? weights.experts.getAxes() : ArrayRef<AxisRefAttr>();
  AxisList exchanged = exchangedAxes(experts, shapeOf(route.getResult(0)).front(), typeOf(indices), mesh);
  ArrayRef<AxisRefAttr> kept = experts.drop_back(exchanged.size());
  gather(kept);
  route.setOperand(0, indices);
  problem.operands[0] = getSharding(indices);
  if (!weights.experts)
    return;
  for (Value result : route.getResults())
    for (AxisRefAttr axis : experts)
      layouts.setCause(result, axis, cause);
  if (!kept.empty()) {
    problem.given.resize(rule.factors.size());
    FactorDivision &division = problem.given[rule.results[0].dims[0].front()];
    division.axes = AxisList(kept);
    division.unit = weights.experts.getUnit();
  }
  if (!exchanged.empty())
    for (Value result : route.getResults())
      exchanges.try_emplace(result, RowExchange{exchanged, cause});
}

std::optional<Cause> Propagation::causeOfRows(CallOp call) {
  // The positions of a sample are gathered for the statement of which the call is made.
  if (call.getTarget() == "meshplan.drop_choices")
    return Cause{call.getLoc(), StringAttr()};
  std::optional<unsigned> table = CallView::of(call).getOperand("table");
  if (!table)
    return std::nullopt;
  auto found = routeCauses.find(originOf(call.getOperand(*table)));
  return found == routeCauses.end() ? std::nullopt : std::optional(found->second);
}

void Propagation::gatherFeatures(CallOp call) {
  std::optional<Cause> cause = causeOfRows(call);
  if (call.getTarget() != "meshplan.dispatch" || !cause)
    return;
  OpOperand &tokens = call->getOpOperand(*CallView::of(call).getOperand("self"));
  ShardingAttr sharding = getSharding(tokens.get());
  if (sharding.getDims().back().getAxes().empty())
    return;
  DimShardingAttr whole = divideDim(shapeOf(tokens.get()).back(), {}, mesh);
  tokens.set(layouts.obtain(tokens.get(), sharding.withDim(sharding.getRank() - 1, whole), call, *cause));
}

void Propagation::sendToExperts(CallOp call) {
  std::optional<unsigned> table = CallView::of(call).getOperand("table");
  bool isRoute = call.getTarget() == "meshplan.route";
  bool dispatches = call.getTarget() == "meshplan.dispatch" || call.getTarget() == "meshplan.dispatch_gates";
  if (!isRoute && !(dispatches && table))
    return;
  auto found = exchanges.find(isRoute ? call.getResult(1) : originOf(call.getOperand(*table)));
  if (found == exchanges.end())
    return;
  RowExchange exchange = found->second;
  Value own = isRoute ? call.getResult(1) : call.getResult(0);
  // The table stays that of the rank's own tokens: it says where their rows are.
  ShardingAttr home = getSharding(own).withRouted(routed.get(own));
  // exchangedAxes has found them in the tokens of the route, which its rows have.
  ShardingAttr away = *arrivalsOf(withSharding(own.getType(), home), exchange.axes, mesh);
  Value sent = layouts.obtain(own, away.withRouted({}), call->getNextNode(), exchange.cause);
  for (AxisRefAttr axis : exchange.axes)
    layouts.setCause(sent, axis, exchange.cause);
  layouts.supersede(own, sent);
}
