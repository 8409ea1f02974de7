//===- propagate_routes.cpp - layouts of rows that go to experts ----------===//
//
// Rows between `meshplan.dispatch` and `meshplan.combine` follow from the choices
// of a router, so that ranks do not know how many rows the others have. Their
// layout is decided where the route is made, by the weights of the experts, and
// every operator takes it from there: tables and rows precede all other operands.
//
// - An axis that divides a dim of a weight other than its experts needs all tokens
//   on each of its ranks: tokens are gathered over it. Tokens have the features
//   that the first weight contracts, so that no features of rows are gathered;
//   where a later weight has only a part of them, a rank takes this part.
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
// equally many experts. Else ranks that have the same tokens first take a part of
// them each, so that rows are exchanged over all axes of the experts, and the tokens
// that `combine` gives are gathered. Tokens are gathered over all axes of the experts
// where they are too few for that.
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
static WeightAxes weightAxesOf(CallOp route, MeshOp mesh) {
  WeightAxes axes;
  SmallVector<Operation *> readers(route.getResult(1).getUsers());
  for (size_t next = 0; next < readers.size(); ++next) {
    if (isa<ConstrainOp>(readers[next]))
      llvm::append_range(readers, readers[next]->getUsers());
    auto call = dyn_cast<CallOp>(readers[next]);
    for (const ExpertWeight &weight : call ? weightsOfExperts(call) : SmallVector<ExpertWeight>()) {
      ShardingAttr sharding = getSharding(weight.argument);
      if (!sharding || sharding.isReplicated())
        continue;
      for (auto [index, dim] : llvm::enumerate(sharding.getDims())) {
        if (dim.getAxes().empty())
          continue;
        bool isOfExperts = static_cast<int64_t>(index) == weight.dim;
        if (isOfExperts && !axes.experts)
          axes.experts =
              weight.size == 1 ? dim : divideDim(shapeOf(weight.argument)[index] / weight.size, dim.getAxes(), mesh);
        else if (!isOfExperts)
          axes.features.append(dim.getAxes().begin(), dim.getAxes().end());
        axes.divided = weight.argument;
      }
    }
  }
  return axes;
}

/// The axes of `count` experts over which rows are exchanged: those that also divide tokens, which are the most minor
/// ones of the experts.
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

/// Tokens that are gathered over the axes: over digits only, if these are the minor ones of an axis.
static ShardingAttr withoutTokenAxes(RankedTensorType indices, ArrayRef<AxisRefAttr> axes, MeshOp mesh) {
  ShardingAttr gathered = getSharding(indices);
  for (bool removes = true; std::exchange(removes, false);)
    for (AxisRefAttr axis : axes)
      if (overlapsAny(allAxes(gathered), axis))
        if (auto rest = withoutTokenAxis(indices, gathered, 0, indices.getRank() - 1, axis, mesh)) {
          gathered = *rest;
          removes = true;
        }
  return without(withSharding(indices, gathered), axes, mesh);
}

std::optional<ShardingAttr> Propagation::spreadOver(Value indices, ArrayRef<AxisRefAttr> axes) {
  ShardingAttr sharding = getSharding(indices);
  for (AxisRefAttr axis : axes) {
    std::optional<ShardingAttr> spread;
    // Positions before samples, of which a microbatch may have few. The last dim are the slots.
    for (int64_t dim = rankOf(indices) - 2; dim >= 0 && !spread; --dim) {
      DimShardingAttr now = sharding.getDims()[dim];
      if (std::optional<DimShardingAttr> divided = llvm::any_of(now.getAxes(), isTime)
                                                       ? std::nullopt
                                                       : extended(indices, dim, now, axis, /*keepsBlocks=*/true))
        spread = sharding.withDim(dim, *divided);
    }
    if (!spread)
      return std::nullopt;
    sharding = *spread;
  }
  return sharding;
}

AxisList Propagation::axesToSpread(Value indices, ArrayRef<AxisRefAttr> experts, int64_t count) {
  AxisList used = allAxes(getSharding(indices)), added;
  for (AxisRefAttr axis : experts)
    if (!overlapsAny(used, axis))
      added.push_back(axis);
  std::optional<ShardingAttr> spread =
      added.size() == experts.size() ? std::nullopt : spreadOver(indices, added); // else no rows are sent anyway
  bool areAllExchanged =
      spread && exchangedAxes(experts, count, withSharding(typeOf(indices), *spread), mesh).size() == experts.size();
  return areAllExchanged ? added : AxisList();
}

void Propagation::visitRoute(CallOp route, const FactorRule &rule, CallProblem &problem) {
  WeightAxes weights = weightAxesOf(route, mesh);
  if (!weights.divided)
    return;
  Cause cause{weights.divided.getLoc(), styleOf(weights.divided)};
  routeCauses.try_emplace(route.getResult(0), cause);
  Value indices = route.getOperand(0);
  auto gather = [&](ArrayRef<AxisRefAttr> axes) {
    ShardingAttr gathered = withoutTokenAxes(typeOf(indices), axes, mesh);
    if (gathered != getSharding(indices))
      indices = layouts.obtain(indices, gathered, route, cause);
  };
  gather(weights.features);
  ArrayRef<AxisRefAttr> experts = weights.experts ? weights.experts.getAxes() : ArrayRef<AxisRefAttr>();
  int64_t count = shapeOf(route.getResult(0)).front();
  AxisList exchanged = exchangedAxes(experts, count, typeOf(indices), mesh);
  if (AxisList added = exchanged.empty() ? axesToSpread(indices, experts, count) : AxisList(); !added.empty()) {
    indices = layouts.obtain(indices, *spreadOver(indices, added), route, cause);
    spreads[route.getResult(0)] = added;
    exchanged = AxisList(experts);
  }
  ArrayRef<AxisRefAttr> kept = experts.drop_back(exchanged.size());
  AxisList gathered;
  llvm::copy_if(kept, std::back_inserter(gathered),
                [&](AxisRefAttr axis) { return overlapsAny(allAxes(getSharding(indices)), axis); });
  if (!gathered.empty() && isFirstReport(cause.location, "tokens"))
    reportGatheredTokens(route, indices, gathered, experts, cause, mesh);
  gather(kept);
  // A recomputed route has the same tokens, also where nothing of it reads the weights.
  route.getOperand(0).replaceUsesWithIf(indices, [](OpOperand &use) { return isa<MatchOp>(use.getOwner()); });
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

/// The axes of the dim that the product of a dispatched row and the weight of its expert contracts; none where the
/// weight has it whole. Between the two are calls on each element alone, such as the product with a gate.
static ArrayRef<AxisRefAttr> contractedAxes(CallOp dispatch) {
  SmallVector<Value> rows{dispatch.getResult(0)};
  for (size_t next = 0; next < rows.size(); ++next)
    for (Operation *user : rows[next].getUsers()) {
      auto call = dyn_cast<CallOp>(user);
      if (call && multipliesRows(call)) {
        CallView view = CallView::of(call);
        BlockArgument weight = sourceArgument(call.getOperand(*view.getOperand("weight")));
        int64_t dim = view.getBool("transposed", false) ? 1 : 2;
        if (ShardingAttr sharding = weight ? getSharding(weight) : ShardingAttr())
          return sharding.getDims()[dim].getAxes();
      } else if (call && call.getNumResults() == 1 && shapeOf(call.getResult(0)) == shapeOf(rows[next])) {
        rows.push_back(call.getResult(0));
      }
    }
  return {};
}

void Propagation::layOutTokens(CallOp dispatch) {
  unsigned self = *CallView::of(dispatch).getOperand("self");
  Value tokens = dispatch.getOperand(self);
  ArrayRef<AxisRefAttr> axes = contractedAxes(dispatch);
  int64_t last = rankOf(tokens) - 1, extent = shapeOf(tokens).back();
  ShardingAttr wanted = without(typeOf(tokens), axes, mesh);
  wanted = wanted.withDim(last, divideDim(extent, axes, mesh, blocks.get(tokens, last)));
  if (wanted == getSharding(tokens))
    return;
  std::optional<Cause> cause = causeOfRows(dispatch);
  if (!cause && movesData(getSharding(tokens), wanted)) {
    reportUnstated(dispatch, self, wanted);
    cause = causingStatement(tokens, wanted);
  }
  dispatch.setOperand(self, layouts.obtain(tokens, wanted, dispatch, cause.value_or(Cause{dispatch.getLoc(), {}})));
}

void Propagation::gatherSpread(CallOp call) {
  bool givesTokens = call.getTarget() == "meshplan.combine" || call.getTarget() == "meshplan.collect_gates";
  std::optional<unsigned> table = givesTokens ? CallView::of(call).getOperand("table") : std::nullopt;
  auto found = table ? spreads.find(originOf(call.getOperand(*table))) : spreads.end();
  if (found == spreads.end())
    return;
  Value tokens = call.getResult(0);
  Value gathered =
      layouts.obtain(tokens, without(typeOf(tokens), found->second, mesh), call->getNextNode(), *causeOfRows(call));
  layouts.supersede(tokens, gathered);
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
