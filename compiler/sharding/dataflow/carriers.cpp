//===- carriers.cpp - ops that forward a value ----------------------------===//

#include "compiler/sharding/dataflow/carriers.h"
#include "dialect/plan/attributes.h"

using namespace mlir;
using namespace meshplan;
using namespace meshplan::plan;

static bool isMove(Operation *op) {
  return isa_and_present<ConstrainOp, ReshardOp, AllGatherOp, AllReduceOp, ReduceScatterOp, SliceOp>(op);
}

bool meshplan::isCarrier(Operation *op) {
  auto call = dyn_cast_or_null<CallOp>(op);
  if (!call)
    return isMove(op);
  const OpRecord *record = OpRegistry::get().lookup(call.getTarget());
  if (!record || !record->isPointwise || call.getNumOperands() != 1 || call.getNumResults() != 1)
    return false;
  // A pointwise call may broadcast: then elements do not keep their positions.
  return cast<ShapedType>(call.getOperand(0).getType()).getShape() ==
         cast<ShapedType>(call.getResult(0).getType()).getShape();
}

bool meshplan::isConversion(Operation *op) {
  auto call = dyn_cast_or_null<CallOp>(op);
  return call && isCarrier(call) && call.getArgs().contains("dtype");
}

BlockArgument meshplan::sourceArgument(Value value) {
  while (isCarrier(value.getDefiningOp()))
    value = value.getDefiningOp()->getOperand(0);
  return dyn_cast<BlockArgument>(value);
}

bool meshplan::isBackward(Operation *op) {
  if (auto call = dyn_cast<CallOp>(op); call && call.getBackward())
    return true;
  // A conversion of an activation is part of the model, in the forward pass. One of a parameter is inserted for its
  // readers, so it belongs to the pass of these.
  bool isHandedOn = isMove(op) || (isCarrier(op) && sourceArgument(op->getResult(0)));
  return isHandedOn && !op->use_empty() && llvm::all_of(op->getUsers(), isBackward);
}
