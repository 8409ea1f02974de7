//===- gather_rows.cpp - sends rows instead of the table of their sums ----===//
//
// See GatherRows in passes.td.
//
//===----------------------------------------------------------------------===//

#include "compiler/sharding/dataflow/carriers.h"
#include "compiler/sharding/families/row_sums.h"
#include "compiler/sharding/reshard.h"
#include "compiler/transforms/partition/passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"

namespace meshplan {
#define GEN_PASS_DEF_GATHERROWS
#include "compiler/transforms/partition/passes.h.inc"
} // namespace meshplan

using namespace mlir;
using namespace meshplan;
using namespace meshplan::plan;

/// The axes over which the reshard sums addends of ranks.
static AxisList summedAxes(ReshardOp reshard) {
  ShardingAttr from = getSharding(reshard.getInput()), to = getSharding(reshard.getResult());
  AxisList summed;
  if (from.getReduction() == Reduction::sum)
    llvm::copy_if(without(from.getPartialAxes(), to.getPartialAxes()), std::back_inserter(summed),
                  [](AxisRefAttr axis) { return !isTime(axis); });
  return summed;
}

/// True if each of the axes divides a dim of the operand, and none its addends: without them the operand has the rows
/// of all ranks.
static bool isDividedBy(Value operand, ArrayRef<AxisRefAttr> axes) {
  ShardingAttr sharding = getSharding(operand);
  auto isSummed = [&](AxisRefAttr axis) { return llvm::is_contained(axes, axis); };
  size_t divided = 0;
  for (DimShardingAttr dim : sharding.getDims()) {
    // Major axes would be gathered with all that are minor to them, such as time: the microbatches of a rank.
    ArrayRef<AxisRefAttr> minor = dim.getAxes().drop_while([&](AxisRefAttr axis) { return !isSummed(axis); });
    if (!llvm::all_of(minor, isSummed))
      return false;
    divided += minor.size();
  }
  return divided == axes.size() && llvm::none_of(sharding.getPartialAxes(), isSummed);
}

static ShardingAttr withoutAddends(Value value, ArrayRef<AxisRefAttr> axes) {
  ShardingAttr sharding = getSharding(value);
  return sharding.withPartial(sharding.getReduction(), without(sharding.getPartialAxes(), axes));
}

/// Lets the reshard get whole sums, if all rows are fewer bytes than the addends that it sends.
static void gatherRows(ReshardOp reshard, MeshOp mesh) {
  AxisList axes = summedAxes(reshard);
  // Conversions and factors of the addends are those of their sum.
  SmallVector<Operation *> after;
  Value sum = reshard.getInput();
  for (Operation *op = sum.getDefiningOp(); isa_and_present<CallOp>(op) && isCarrier(op) && sum.hasOneUse();
       op = sum.getDefiningOp()) {
    after.push_back(op);
    sum = op->getOperand(0);
  }
  auto call = sum.getDefiningOp<CallOp>();
  if (axes.empty() || !call || !sum.hasOneUse() || call.getNumResults() != 1 || !addsRows(call.getTarget()) ||
      !llvm::all_of(call.getOperands(), [&](Value operand) { return isDividedBy(operand, axes); }))
    return;
  ShardingAttr to = getSharding(reshard.getResult());
  auto bytesTo = [&](ShardingAttr from) {
    return reshardBytes(cast<RankedTensorType>(withSharding(reshard.getInput().getType(), from)), to, mesh);
  };
  double saved = bytesTo(getSharding(reshard.getInput())) - bytesTo(withoutAddends(reshard.getInput(), axes));
  for (Value operand : call.getOperands())
    saved -= reshardBytes(typeOf(operand), without(typeOf(operand), axes, mesh), mesh);
  if (saved <= 0)
    return;
  OpBuilder builder(call);
  for (OpOperand &operand : call->getOpOperands()) {
    Value own = operand.get();
    Type whole = withSharding(own.getType(), without(typeOf(own), axes, mesh));
    operand.set(ReshardOp::create(builder, reshard.getLoc(), whole, own, reshard.getCauseAttr()));
  }
  sum.setType(cast<RankedTensorType>(withSharding(sum.getType(), withoutAddends(sum, axes))));
  for (Operation *op : llvm::reverse(after)) {
    Value made = op->getResult(0);
    made.setType(cast<RankedTensorType>(withSharding(made.getType(), withoutAddends(made, axes))));
  }
  if (reshard.getInput().getType() == reshard.getType()) {
    reshard.getResult().replaceAllUsesWith(reshard.getInput());
    reshard.erase();
  }
}

namespace {
struct GatherRowsPass : meshplan::impl::GatherRowsBase<GatherRowsPass> {
  void runOnOperation() final {
    MeshOp mesh = getMesh(getOperation());
    if (!mesh)
      return;
    for (auto function : getOperation().getOps<func::FuncOp>())
      for (auto reshard : llvm::make_early_inc_range(function.getOps<ReshardOp>()))
        gatherRows(reshard, mesh);
  }
};
} // namespace
