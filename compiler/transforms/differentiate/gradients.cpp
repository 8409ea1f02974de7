//===- gradients.cpp - the backward pass of a function --------------------===//

#include "compiler/transforms/differentiate/gradients.h"
#include "compiler/derivatives/derivative_rules.h"
#include "compiler/sharding/calls/carriers.h"
#include "compiler/transforms/differentiate/messages.h"

using namespace mlir;
using namespace meshplan;
using namespace meshplan::plan;

Gradients::Gradients(func::FuncOp function, Value loss, ArrayRef<BlockArgument> trained)
    : function(function), loss(loss), place(function.getBody().front().getTerminator()) {
  findActive(trained);
}

static bool isFloat(Value value) { return isa<FloatType>(cast<RankedTensorType>(value.getType()).getElementType()); }

void Gradients::findActive(ArrayRef<BlockArgument> trained) {
  active.insert_range(trained);
  for (Operation &op : function.getBody().front())
    if (isa<CallOp, ConstrainOp>(op) &&
        llvm::any_of(op.getOperands(), [&](Value value) { return active.contains(value); }))
      for (Value result : op.getResults())
        if (isFloat(result))
          active.insert(result);
}

LogicalResult Gradients::run() {
  SmallVector<Operation *> forward;
  for (Operation &op : function.getBody().front().without_terminator())
    forward.push_back(&op);
  if (!active.contains(loss))
    return success();
  seed();
  for (Operation *op : llvm::reverse(forward)) {
    if (auto constrain = dyn_cast<ConstrainOp>(op))
      visit(constrain);
    else if (auto call = dyn_cast<CallOp>(op); call && failed(visit(call)))
      return failure();
  }
  for (BlockArgument argument : function.getArguments())
    if (made.contains(argument))
      made[argument] = matched(argument);
  return success();
}

/// The loss changes by as much as itself.
void Gradients::seed() {
  Operation *producer = loss.getDefiningOp();
  while (auto constrain = dyn_cast<ConstrainOp>(producer))
    producer = constrain.getInput().getDefiningOp();
  made[loss] = CallBuilder::backward("aten.full.default", cast<CallOp>(producer), place)
                   .integers("size", shapeOf(loss))
                   .number("fill_value", 1)
                   .type("dtype", elementOf(loss))
                   .build(shapeOf(loss), elementOf(loss));
  made[loss].getDefiningOp()->setAttr("plan.loss_gradient", UnitAttr::get(function.getContext()));
}

/// True for calls that have their one operand's elements, in another order or shape, as their result.
static bool movesElements(CallOp call) {
  CallView view = CallView::of(call);
  const OpRecord *record = OpRegistry::get().lookup(view.target);
  return record && record->linearity && view.operands.size() == 1 && record->linearity(view).movesElements;
}

/// True for what makes a weight narrower, gathered or not. Its gradient is laid out as the weight is, behind the
/// conversion back: addends are added up in the type that the plan wants, not in the narrow one.
static bool narrowsWeight(CallOp call) {
  if (!isCarrier(call) || elementBytes(call.getResult(0).getType()) >= elementBytes(call.getOperand(0).getType()))
    return false;
  Value value = call.getOperand(0);
  while (auto constrain = value.getDefiningOp<ConstrainOp>())
    value = constrain.getInput();
  return isFromWeights(value);
}

LogicalResult Gradients::visit(CallOp call) {
  SmallVector<Value> gradients;
  bool moves = movesElements(call) || narrowsWeight(call), hasGradient = false;
  for (Value result : call.getResults()) {
    bool isReached = made.contains(result);
    hasGradient |= isReached;
    gradients.push_back(!isReached ? Value() : moves ? made[result] : matched(result));
  }
  llvm::BitVector wanted(call.getNumOperands());
  for (auto [index, operand] : llvm::enumerate(call.getOperands()))
    wanted[index] = active.contains(operand);
  if (!hasGradient || wanted.none())
    return success();
  Derivation derivation(call, gradients, wanted, place);
  derivativeOf(call.getTarget())(derivation);
  if (!derivation.getRefusal().empty())
    return reportNoDerivative(call, derivation.getRefusal(), loss);
  for (auto [value, addend] : derivation.getGiven())
    if (active.contains(value))
      add(value, addend, call);
  return success();
}

/// The call that makes a gradient, which may be laid out since.
static CallOp callBehind(Value gradient) {
  while (auto match = gradient.getDefiningOp<MatchOp>())
    gradient = match.getGradient();
  return gradient.getDefiningOp<CallOp>();
}

void Gradients::visit(ConstrainOp constrain) {
  auto found = made.find(constrain.getResult());
  if (found == made.end() || !active.contains(constrain.getInput()))
    return;
  Value gradient = found->second;
  add(constrain.getInput(), gradient, callBehind(gradient));
}

void Gradients::add(Value value, Value addend, CallOp from) {
  auto [known, isNew] = made.insert({value, addend});
  if (isNew)
    return;
  known->second = CallBuilder::backward("aten.add.Tensor", from, place)
                      .tensor("self", known->second)
                      .tensor("other", addend)
                      .build(shapeOf(value), elementOf(value));
}

Value Gradients::matched(Value value) {
  Value gradient = made.lookup(value);
  return MatchOp::create(place, value.getLoc(), RankedTensorType::get(shapeOf(value), elementOf(value)), gradient,
                         value, ArrayAttr());
}
