//===- propagate_shardings.cpp - gives every value a sharding -------------===//
//
// See PropagateShardings in passes.td. Runs after `place`: arguments have their
// shardings, borders of styled modules their plan.constrain ops.
//
//===----------------------------------------------------------------------===//

#include "compiler/transforms/propagate/delay_addend.h"
#include "compiler/transforms/propagate/passes.h"
#include "compiler/transforms/propagate/propagation.h"
#include "dialect/plan/attributes.h"

namespace meshplan {
#define GEN_PASS_DEF_PROPAGATESHARDINGS
#include "compiler/transforms/propagate/passes.h.inc"
} // namespace meshplan

using namespace mlir;
using namespace meshplan;
using namespace meshplan::plan;

LogicalResult Propagation::run() {
  for (BlockArgument argument : function.getArguments())
    decideArgument(argument);
  Block &block = function.getBody().front();
  visitAll(&block.front(), nullptr);
  // After an error causes are incomplete, and no later pass reads them.
  if (!hasFailed)
    for (Operation &op : block)
      layouts.writeCauses(&op);
  return failure(hasFailed);
}

/// Removes an op from its block without destroying it. The tables of propagation use addresses of values as keys, so no
/// later value may reuse an address.
static OwningOpRef<Operation *> detach(Operation *op) {
  op->dropAllReferences();
  op->remove();
  return op;
}

void Propagation::visitAll(Operation *first, Operation *end) {
  Block *block = first->getBlock();
  // The walk remembers the op before the current one, which stays valid when the current op is removed.
  Operation *before = first->getPrevNode();
  // Ops are inserted after the current one during the walk, and are visited too.
  for (Operation *op = first; op != end; op = before ? before->getNextNode() : &block->front()) {
    // The op now runs later and is visited there. The walk continues after `before`, which has not moved.
    if (delaysAddend(op))
      continue;
    if (failed(visit(op)))
      recover(op);
    // The op is removed. The one before it, perhaps a reshard that was inserted for it, becomes the anchor and is not
    // visited.
    bool isDone = isa<ConstrainOp, MatchOp>(op) || composed.erase(op);
    before = isDone ? op->getPrevNode() : op;
    if (isDone)
      removed.push_back(detach(op));
  }
}

bool Propagation::delaysAddend(Operation *op) {
  auto call = dyn_cast<CallOp>(op);
  return call && delayWholeAddend(call, [&](Value value) { return getSharding(layouts.current(value)); });
}

void Propagation::recover(Operation *op) {
  hasFailed = true;
  if (auto constrain = dyn_cast<ConstrainOp>(op))
    constrain.getResult().replaceAllUsesWith(layouts.current(constrain.getInput()));
  for (Value result : op->getResults())
    // Any decided layout lets the walk continue, so that one call reports the errors of the whole function.
    if (!getSharding(result))
      layouts.decide(result,
                     ShardingAttr::getReplicated(op->getContext(), cast<RankedTensorType>(result.getType()).getRank()));
}

bool Propagation::isFirstReport(Location location, const Twine &what) {
  return reported.insert({location.getAsOpaquePointer(), what.str()}).second;
}

void Propagation::decideArgument(BlockArgument argument) {
  ShardingAttr sharding = getSharding(argument);
  layouts.decide(argument, sharding);
  StringAttr style = styleOf(argument);
  for (DimShardingAttr dim : sharding.getDims())
    for (AxisRefAttr axis : dim.getAxes())
      layouts.setCause(argument, axis, {argument.getLoc(), style});
  if (DataOp data = dataOf(argument))
    for (AxisRefAttr axis : sharding.getFlatAxes())
      layouts.setCause(argument, axis, {data.getLoc(), data.getTextAttr()});
}

StringAttr Propagation::styleOf(BlockArgument argument) {
  unsigned number = argument.getArgNumber();
  auto names = argAttr<attr::Names>(function, number);
  if (argumentKind(argument) != ArgumentKind::input || !names)
    return argAttr<attr::Style>(function, number);
  return StringAttr::get(function.getContext(), "input " + cast<StringAttr>(names[0]).getValue());
}

LogicalResult Propagation::visit(Operation *op) {
  if (auto constant = dyn_cast<ConstantOp>(op))
    return layouts.decide(constant, ShardingAttr::getReplicated(op->getContext(), constant.getType().getRank())),
           success();
  if (auto constrain = dyn_cast<ConstrainOp>(op))
    return visitConstrain(constrain);
  if (auto match = dyn_cast<MatchOp>(op))
    return visitMatch(match), success();
  if (auto enter = dyn_cast<EnterMicrobatchOp>(op))
    return visitEnter(enter), success();
  if (auto leave = dyn_cast<LeaveMicrobatchOp>(op))
    return visitLeave(leave), success();
  if (auto call = dyn_cast<CallOp>(op))
    return visitCall(call);
  if (auto output = dyn_cast<func::ReturnOp>(op))
    return visitReturn(output);
  return success();
}

LogicalResult Propagation::visitReturn(func::ReturnOp output) {
  for (OpOperand &operand : output->getOpOperands()) {
    operand.set(layouts.current(operand.get()));
    // Programs return whole sums: no reader outside could add the addends up.
    for (AxisRefAttr axis : AxisList(getSharding(operand.get()).getPartialAxes()))
      operand.set(reduce(operand.get(), axis, output));
  }
  function.setType(
      FunctionType::get(function.getContext(), function.getBody().getArgumentTypes(), output.getOperandTypes()));
  return failure(strictFailure);
}

namespace {

struct PropagateShardingsPass : meshplan::impl::PropagateShardingsBase<PropagateShardingsPass> {
  using PropagateShardingsBase::PropagateShardingsBase;

  void runOnOperation() final {
    ModuleOp module = getOperation();
    MeshOp mesh = getMesh(module);
    ModuleStyles styles;
    for (auto style : module.getOps<StyleOp>())
      styles[style.getModule()].push_back(style);
    Reports reported;
    for (auto function : module.getOps<func::FuncOp>())
      if (failed(Propagation(function, mesh, styles, strict, reported).run()))
        return signalPassFailure();
    for (auto style : llvm::make_early_inc_range(module.getOps<StyleOp>()))
      style.erase();
  }
};

} // namespace
