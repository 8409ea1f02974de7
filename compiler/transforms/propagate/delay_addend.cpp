//===- delay_addend.cpp - sums gradients before their collective ----------===//

#include "compiler/transforms/propagate/delay_addend.h"
#include "compiler/sharding/axes.h"

using namespace mlir;
using namespace meshplan;
using namespace meshplan::plan;

/// The sum that differentiation inserts for a value with several readers: two gradients of one type, without a scale.
static bool addsGradients(CallOp call) {
  auto isLikeResult = [&](Value operand) {
    return shapeOf(operand) == shapeOf(call.getResult(0)) &&
           getElementTypeOrSelf(operand) == getElementTypeOrSelf(call.getResult(0));
  };
  return call.getBackward() && call.getTarget() == "aten.add.Tensor" && call.getNumOperands() == 2 &&
         call.getArgs().size() == 2 && llvm::all_of(call.getOperands(), isLikeResult);
}

/// The sum of gradients that is the only reader of this sum, if there is one.
static CallOp nextSum(CallOp sum) {
  auto next = sum->hasOneUse() ? dyn_cast<CallOp>(*sum->user_begin()) : CallOp();
  return next && addsGradients(next) ? next : CallOp();
}

static OpOperand &otherOperand(CallOp sum, Value one) { return sum->getOpOperand(sum.getOperand(0) == one ? 1 : 0); }

/// The axes, except time, over which a value is partial.
static AxisList rankAxes(ShardingAttr sharding) {
  AxisList axes;
  llvm::copy_if(sharding.getPartialAxes(), std::back_inserter(axes), [](AxisRefAttr axis) { return !isTime(axis); });
  return axes;
}

bool meshplan::delayWholeAddend(CallOp sum, llvm::function_ref<ShardingAttr(Value)> shardingOf) {
  if (!addsGradients(sum))
    return false;
  AxisList first = rankAxes(shardingOf(sum.getOperand(0))), second = rankAxes(shardingOf(sum.getOperand(1)));
  // Both partial: they are added as they are. Neither: there is no collective to save.
  if (first.empty() == second.empty())
    return false;
  OpOperand &whole = sum->getOpOperand(first.empty() ? 0 : 1);
  const AxisList &partial = first.empty() ? second : first;
  SmallVector<CallOp> chain;
  for (CallOp last = sum, next = nextSum(sum); next; last = next, next = nextSum(next)) {
    chain.push_back(last);
    OpOperand &other = otherOperand(next, last.getResult(0));
    ShardingAttr sharding = shardingOf(other.get());
    // Only a gradient over the same axes can be added before the collective. One that is not decided yet may be: the
    // chain is at worst reordered for nothing.
    if (sharding && rankAxes(sharding) != partial)
      continue;
    // The chain moves to where the later gradient exists. Each swap moves the whole addend further down a chain that
    // ends, so repeated visits end, too.
    for (CallOp link : chain)
      link->moveBefore(next);
    Value delayed = whole.get();
    whole.set(other.get());
    other.set(delayed);
    return true;
  }
  return false;
}
