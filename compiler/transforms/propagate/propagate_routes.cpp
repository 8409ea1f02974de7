//===- propagate_routes.cpp - layouts of rows that go to experts ----------===//
//
// Rows between `meshplan.dispatch` and `meshplan.combine` cannot move between
// ranks, which do not know how many rows the others have. So one layout for the
// experts and tokens of all rows of a route is decided where the route is made,
// and every operator takes it from there: tables and rows precede all other
// operands.
//
// The experts' weights decide: axes that divide their experts divide those of
// the rows, and tokens are gathered over every axis that divides a weight. An
// axis may divide tokens only where all ranks of the axis have the same weights.
//
// Example: mesh dp = 2, tp = 2; tokens [samples over dp, positions over tp];
// weights [8 experts, 64 over tp, 32].
//
//   indices     [samples over dp, positions over tp, 2]
//   gathered    [samples over dp, positions, 2]            tp divides a weight
//   table       [8, samples over dp, positions]
//   dispatch    gathers its tokens over tp likewise, and gives [8, samples over
//               dp, positions, 32]; the first product gives [.., 64 over tp]
//
// With weights [8 experts over tp, 64, 32] the table is [8 over tp, samples over
// dp, positions]: each rank computes the rows of its experts, and the tokens
// that `combine` gives are addends over tp.
//
//===----------------------------------------------------------------------===//

#include "compiler/sharding/dataflow/carriers.h"
#include "compiler/transforms/propagate/propagation.h"

using namespace mlir;
using namespace meshplan;
using namespace meshplan::plan;

namespace {

/// The axes that divide weights of the experts of a route, and a statement that divides one of them.
struct WeightAxes {
  DimShardingAttr experts; ///< of the first weight whose experts are divided; null if there is none
  AxisList all;
  BlockArgument divided; ///< null if no weight is divided
};

} // namespace

/// Every product of the rows reads the counts of the route, beside the weights or biases of the experts.
static WeightAxes weightAxesOf(CallOp route) {
  WeightAxes axes;
  for (Operation *reader : route.getResult(1).getUsers()) {
    auto call = dyn_cast<CallOp>(reader);
    CallView view = call ? CallView::of(call) : CallView();
    for (StringRef name : {"weight", "bias"}) {
      std::optional<unsigned> operand = call ? view.getOperand(name) : std::nullopt;
      BlockArgument weight = operand ? sourceArgument(call.getOperand(*operand)) : BlockArgument();
      ShardingAttr sharding = weight ? getSharding(weight) : ShardingAttr();
      if (!sharding || sharding.isReplicated())
        continue;
      for (auto [index, dim] : llvm::enumerate(sharding.getDims())) {
        if (dim.getAxes().empty())
          continue;
        if (index == 0 && !axes.experts)
          axes.experts = dim;
        axes.all.append(dim.getAxes().begin(), dim.getAxes().end());
        axes.divided = weight;
      }
    }
  }
  return axes;
}

void Propagation::visitRoute(CallOp route, const FactorRule &rule, CallProblem &problem) {
  WeightAxes weights = weightAxesOf(route);
  if (!weights.divided)
    return;
  Cause cause{weights.divided.getLoc(), styleOf(weights.divided)};
  Value indices = route.getOperand(0);
  if (ShardingAttr gathered = without(typeOf(indices), weights.all, mesh); gathered != getSharding(indices))
    route.setOperand(0, layouts.obtain(indices, gathered, route, cause));
  problem.operands[0] = getSharding(route.getOperand(0));
  if (!weights.experts)
    return;
  problem.given.resize(rule.factors.size());
  FactorDivision &experts = problem.given[rule.results[0].dims[0].front()];
  experts.axes = AxisList(weights.experts.getAxes());
  experts.unit = weights.experts.getUnit();
  for (Value result : route.getResults())
    for (AxisRefAttr axis : experts.axes)
      layouts.setCause(result, axis, cause);
}
