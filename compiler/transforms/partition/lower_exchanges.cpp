//===- lower_exchanges.cpp - rows go to the ranks of their experts --------===//
//
// See LowerExchanges in passes.td.
//
// Propagation leaves a plan.reshard where rows of tokens have to be on the rank of their expert, and where they come
// back. How many rows each rank has for each expert follows from the router, when the program runs. So all ranks of the
// exchange first tell each other these numbers, once for each route:
//
//   %table, %counts = route(%indices)          counts [8 experts]: of the rank's own tokens
//   %0 = counts_to_gather(%counts)             [1, 8]
//   %1 = all_gather %0                         [2, 8]: of the tokens of both ranks
//   %numbers = counts_on_host(%1)              read by the host, once for forward and backward pass
//
// The rows of a rank's tokens are ordered by expert, so that those for one rank are contiguous. What arrives is by
// rank, and is ordered by expert, so that the products of an expert are one product:
//
//   %rows = dispatch(%x, %table)               [experts, tokens over dp, features] rows
//   %2 = exchange %rows by %numbers            [experts over dp, tokens, features] arrivals
//   %3 = order_by_expert(%2, %numbers)         [experts over dp, tokens, features] rows
//
// They come back in the reverse order of steps.
//
//===----------------------------------------------------------------------===//

#include "compiler/sharding/axes.h"
#include "compiler/sharding/dataflow/module_border.h"
#include "compiler/sharding/dataflow/routed_values.h"
#include "compiler/transforms/partition/passes.h"
#include "dialect/plan/module_runs.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include <array>

namespace meshplan {
#define GEN_PASS_DEF_LOWEREXCHANGES
#include "compiler/transforms/partition/passes.h.inc"
} // namespace meshplan

using namespace mlir;
using namespace meshplan;
using namespace meshplan::plan;

namespace {

/// The exchanges of one function.
class ExchangeLowering {
public:
  ExchangeLowering(func::FuncOp function, MeshOp mesh) : function(function), mesh(mesh) {}

  void run();

private:
  void lower(ReshardOp reshard);
  Value lowerCounts(ReshardOp reshard, Value numbers);
  Value lowerRows(ReshardOp reshard, ArrayRef<AxisRefAttr> axes, bool goes, Value numbers);
  Value numbersOf(CallOp route, ArrayRef<AxisRefAttr> axes, ReshardOp reshard);

  func::FuncOp function;
  MeshOp mesh;
  DenseMap<Value, CallOp> routes;                          ///< of each routed value
  DenseMap<std::pair<Operation *, Attribute>, Value> made; ///< by route and axes: the numbers of all ranks
};

/// A call with tensors under these names. It has the location and the module of `like`, and is of the backward pass
/// if `like` is.
CallOp makeCall(OpBuilder &builder, CallOp like, StringRef target, Type result,
                ArrayRef<std::pair<StringRef, Value>> tensors, ArrayRef<NamedAttribute> integers = {}) {
  NamedAttrList args(integers);
  SmallVector<Value> operands;
  for (auto [name, tensor] : tensors) {
    args.set(name, OperandRefAttr::get(builder.getContext(), operands.size()));
    operands.push_back(tensor);
  }
  auto call = CallOp::create(builder, like.getLoc(), result, builder.getStringAttr(target), operands,
                             args.getDictionary(builder.getContext()), like.getModuleAttr(), like.getBackwardAttr());
  copyModuleRuns(call, like);
  return call;
}

/// The number of the first element, or of the elements, that a rank holds of a dim.
Attribute localInt(OpBuilder &builder, bool ofResult, int64_t index, int64_t dim, bool isOffset) {
  return LocalIntAttr::get(builder.getContext(), 0, ofResult, index, dim, isOffset, !isOffset);
}

/// The experts of the result: their number, the first one, and the first one that is a column of operand `counts`.
std::array<NamedAttribute, 3> rangeOfExperts(OpBuilder &builder, int64_t counts) {
  return {builder.getNamedAttr("begin", localInt(builder, /*ofResult=*/false, counts, 1, /*isOffset=*/true)),
          builder.getNamedAttr("first", localInt(builder, /*ofResult=*/true, 0, 0, /*isOffset=*/true)),
          builder.getNamedAttr("experts", localInt(builder, /*ofResult=*/true, 0, 0, /*isOffset=*/false))};
}

} // namespace

void ExchangeLowering::run() {
  for (Operation &op : llvm::make_early_inc_range(function.getBody().front())) {
    auto call = dyn_cast<CallOp>(op);
    CallOp route = call && call.getTarget() == "meshplan.route" ? call : CallOp();
    for (Value operand : op.getOperands())
      if (!route && routedOf(operand))
        route = routes.lookup(operand);
    for (Value result : op.getResults())
      if (routedOf(result))
        routes[result] = route;
    if (auto reshard = dyn_cast<ReshardOp>(op))
      lower(reshard);
  }
}

void ExchangeLowering::lower(ReshardOp reshard) {
  Value input = reshard.getInput();
  ArrayRef<AxisRefAttr> before = getSharding(input).getDims().front().getAxes();
  ArrayRef<AxisRefAttr> after = getSharding(reshard.getResult()).getDims().front().getAxes();
  bool goes = goesToExperts(reshard);
  SmallVector<AxisRefAttr> axes(goes ? after.drop_front(before.size()) : before.drop_front(after.size()));
  CallOp route = routes.lookup(input);
  Value numbers = numbersOf(route, axes, reshard);
  bool isCounts = routedOf(input).getKind() == base::RoutedKind::counts;
  Value lowered = isCounts ? lowerCounts(reshard, numbers) : lowerRows(reshard, axes, goes, numbers);
  routes[lowered] = route;
  reshard.replaceAllUsesWith(lowered);
  reshard.erase();
}

Value ExchangeLowering::numbersOf(CallOp route, ArrayRef<AxisRefAttr> axes, ReshardOp reshard) {
  OpBuilder builder(route.getContext());
  builder.setInsertionPointAfter(route);
  ArrayAttr axesAttr = builder.getArrayAttr(SmallVector<Attribute>(axes.begin(), axes.end()));
  Value &numbers = made[{route, axesAttr}];
  if (numbers)
    return numbers;
  Value counts = route.getResult(1);
  DimShardingAttr ranks = DimShardingAttr::get(builder.getContext(), axes),
                  all = DimShardingAttr::get(builder.getContext(), {});
  DimShardingAttr experts = getSharding(counts).getDims().front();
  auto typeWith = [&](DimShardingAttr dim) {
    return RankedTensorType::get({shardCount(axes, mesh), shapeOf(counts).front()}, elementOf(counts),
                                 ShardingAttr::get(builder.getContext(), {dim, experts}));
  };
  Value own = makeCall(builder, route, "meshplan.counts_to_gather", typeWith(ranks),
                       {{"counts", counts}, {"like", route.getResult(0)}})
                  .getResult(0);
  Value gathered = AllGatherOp::create(builder, reshard.getLoc(), typeWith(all), own, axesAttr, reshard.getCauseAttr(),
                                       builder.getI64IntegerAttr(0), IntegerAttr(), UnitAttr(), Value());
  return numbers =
             makeCall(builder, route, "meshplan.counts_on_host", typeWith(all), {{"self", gathered}}).getResult(0);
}

Value ExchangeLowering::lowerCounts(ReshardOp reshard, Value numbers) {
  OpBuilder builder(reshard);
  return makeCall(builder, routes.lookup(reshard.getInput()), "meshplan.counts_of_experts",
                  reshard.getResult().getType(), {{"counts", numbers}}, rangeOfExperts(builder, 0))
      .getResult(0);
}

Value ExchangeLowering::lowerRows(ReshardOp reshard, ArrayRef<AxisRefAttr> axes, bool goes, Value numbers) {
  OpBuilder builder(reshard);
  Value input = reshard.getInput();
  auto maker = originOf(input).getDefiningOp<CallOp>();
  // The experts of a rank are those of the side on which each rank has all rows of its experts.
  auto away = typeOf(goes ? reshard.getResult() : input);
  base::RoutedAttr routed = getSharding(away).getRouted();
  auto arrivals = withSharding(away, getSharding(away).withRouted(base::RoutedAttr::get(
                                         builder.getContext(), base::RoutedKind::arrivals, routed.getDims(),
                                         routed.getSlots(), routed.getReserve())));
  ArrayAttr axesAttr = builder.getArrayAttr(SmallVector<Attribute>(axes.begin(), axes.end()));
  auto order = [&](StringRef target, StringRef name, Value rows, Type result) -> Value {
    return makeCall(builder, maker, target, result, {{name, rows}, {"counts", numbers}}, rangeOfExperts(builder, 1))
        .getResult(0);
  };
  auto exchange = [&](Value rows, Type result) -> Value {
    return ExchangeOp::create(builder, reshard.getLoc(), result, rows, axesAttr, reshard.getCauseAttr(), numbers);
  };
  if (goes)
    return order("meshplan.order_by_expert", "arrivals", exchange(input, arrivals), away);
  return exchange(order("meshplan.order_by_rank", "rows", input, arrivals), reshard.getResult().getType());
}

namespace {
struct LowerExchangesPass : meshplan::impl::LowerExchangesBase<LowerExchangesPass> {
  void runOnOperation() final {
    MeshOp mesh = getMesh(getOperation());
    for (auto function : getOperation().getOps<func::FuncOp>())
      ExchangeLowering(function, mesh).run();
  }
};
} // namespace
