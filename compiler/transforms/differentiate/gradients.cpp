//===- gradients.cpp - the backward pass of a function --------------------===//
//
// Reverse mode over a straight-line program. `made` maps a value to its gradient so far. Two sets restrict the work:
//
// - active: values that depend on a trained parameter through float values. Only these get gradients, so frozen
//   parameters and indices cost nothing.
// - weightFunctions: values that depend on weights alone, such as the sum of two weights. Their gradients stay addends
//   up to the parameter.
//
// The matches that the pass inserts are all that it says about layouts: the gradient of a value is laid out like the
// value. For x [8, 4] over dp = 2 and w [6, 4] over tp = 3 on dim 0, the gradient of w is a product that contracts the
// batch, so it is partial over dp, and its match with w makes propagation reduce it over dp and leave it divided over
// tp. No rule of a derivative knows of this.
//
// Time is linear in the program, plus the calls that rules create.

#include "compiler/transforms/differentiate/gradients.h"
#include "compiler/derivatives/derivative_rules.h"
#include "compiler/sharding/dataflow/carriers.h"
#include "compiler/sharding/families/random_ops.h"
#include "compiler/transforms/differentiate/messages.h"
#include "dialect/plan/attributes.h"

using namespace mlir;
using namespace meshplan;
using namespace meshplan::plan;

Gradients::Gradients(func::FuncOp function, Value loss, ArrayRef<BlockArgument> trained)
    : function(function), loss(loss), insertion(function.getBody().front().getTerminator()) {
  findActive(trained);
  findWeightFunctions();
}

static bool isFloat(Value value) { return isa<FloatType>(cast<RankedTensorType>(value.getType()).getElementType()); }

/// The result of a detach depends on no parameter, however it is used.
static bool isDetached(Operation &op) {
  auto call = dyn_cast<CallOp>(op);
  return call && !call->hasAttr(attr::ZeroGradient::getNameStr()) &&
         (call.getTarget() == "aten.detach.default" || call.getTarget() == "aten.detach_copy.default");
}

void Gradients::findActive(ArrayRef<BlockArgument> trained) {
  active.insert_range(trained);
  for (Operation &op : function.getBody().front())
    // Forward order: a call is active if any operand is.
    if (isa<CallOp, ConstrainOp>(op) && !isDetached(op) &&
        llvm::any_of(op.getOperands(), [&](Value value) { return active.contains(value); }))
      for (Value result : op.getResults())
        // Integers and booleans have no gradient: indices of a maximum end the path, its values continue it.
        if (isFloat(result))
          active.insert(result);
}

void Gradients::findWeightFunctions() {
  for (BlockArgument argument : function.getArguments())
    if (isWeight(argument))
      weightFunctions.insert(argument);
  for (Operation &op : function.getBody().front())
    if (isa<CallOp, ConstrainOp, ConstantOp>(op) &&
        llvm::all_of(op.getOperands(), [&](Value value) { return weightFunctions.contains(value); }))
      weightFunctions.insert_range(op.getResults());
}

/// A runtime derivative of an operator without a record reads the complete sum.
bool Gradients::isKnownFunctionOfParameters(CallOp call) const {
  return OpRegistry::get().lookup(call.getTarget()) &&
         llvm::all_of(call.getResults(), [&](Value result) { return weightFunctions.contains(result); });
}

Value Gradients::zerosLike(Value value, CallOp from) {
  return CallBuilder::backward("aten.zeros.default", from, insertion)
      .integers("size", shapeOf(value))
      .type("dtype", elementOf(value))
      .build(shapeOf(value), elementOf(value));
}

/// The call that computes a value, before stated layouts.
static CallOp producerOf(Value value) {
  while (auto constrain = value.getDefiningOp<ConstrainOp>())
    value = constrain.getInput();
  return value.getDefiningOp<CallOp>();
}

void Gradients::giveZeros(BlockArgument argument) {
  made[argument] = zerosLike(argument, producerOf(loss));
  // The zeros are laid out like the parameter, as its gradient would be.
  made[argument] = matched(argument);
}

LogicalResult Gradients::run(bool continues) {
  // Gradients are appended to the same block, so the forward ops are collected first.
  SmallVector<Operation *> forward;
  for (Operation &op : function.getBody().front().without_terminator())
    forward.push_back(&op);
  // The loss depends on no trained parameter. The caller reports it, with their names.
  if (!active.contains(loss))
    return success();
  seed();
  bool isWhole = true;
  for (Operation *op : llvm::reverse(forward)) {
    if (auto constrain = dyn_cast<ConstrainOp>(op))
      visit(constrain);
    else if (auto call = dyn_cast<CallOp>(op))
      isWhole &= succeeded(visit(call));
    if (!isWhole && !continues)
      return failure();
  }
  for (BlockArgument argument : function.getArguments())
    if (made.contains(argument))
      made[argument] = matched(argument);
  return success(isWhole);
}

/// The gradient of the loss with respect to itself is 1.
void Gradients::seed() {
  made[loss] = CallBuilder::backward("aten.full.default", producerOf(loss), insertion)
                   .integers("size", shapeOf(loss))
                   .number("fill_value", 1)
                   .type("dtype", elementOf(loss))
                   .build(shapeOf(loss), elementOf(loss));
  setOpAttr<attr::LossGradient>(made[loss].getDefiningOp(), UnitAttr::get(function.getContext()));
}

/// True for calls that return the elements of their only operand in another order or shape.
static bool movesElements(CallOp call) {
  CallView view = CallView::of(call);
  const OpRecord *record = OpRegistry::get().lookup(view.target);
  return record && record->linearity && view.operands.size() == 1 && record->linearity(view).movesElements;
}

LogicalResult Gradients::visit(CallOp call) {
  if (isIdentity(call))
    return propagate(call), success();
  // No match where the gradient of the operand gets one anyway: a partial gradient is then reduced once, together with
  // others.
  bool isLaidOutBehind = movesElements(call) || isKnownFunctionOfParameters(call);
  SmallVector<Value> gradients;
  for (Value result : call.getResults()) {
    bool isReached = made.contains(result);
    gradients.push_back(!isReached ? Value() : isLaidOutBehind ? made[result] : matched(result));
  }
  // Marks where the calls of the rule begin: keepAddends marks those after it.
  Operation *last = insertion.getInsertionPoint()->getPrevNode();
  if (failed(derive(call, gradients)))
    return failure();
  if (isKnownFunctionOfParameters(call))
    keepAddends(last, gradients);
  return success();
}

LogicalResult Gradients::derive(CallOp call, ArrayRef<Value> gradients) {
  bool hasGradient = llvm::any_of(gradients, [](Value gradient) { return gradient != nullptr; });
  llvm::BitVector wanted(call.getNumOperands());
  for (auto [index, operand] : llvm::enumerate(call.getOperands()))
    wanted[index] = active.contains(operand);
  if (!hasGradient || wanted.none())
    return success();
  Derivation derivation(call, gradients, wanted, insertion);
  derivativeOf(call.getTarget())(derivation);
  if (!derivation.getRefusal().empty())
    return reportNoDerivative(call, derivation.getRefusal(), loss);
  for (auto [value, addend] : derivation.getGiven())
    // The form of `give` that takes a value does not ask whether its gradient is wanted.
    if (active.contains(value))
      add(value, addend, call);
  if (keepsZeros)
    for (Value value : derivation.getZeros())
      add(value, zerosLike(value, call), call);
  return success();
}

/// Marks the calls on the path to a parameter so that partial gradients are reduced at the parameter. There the plan
/// states the type, the ranks and the bucket size of the reduction, and less data is moved if the function expands the
/// parameter.
void Gradients::keepAddends(Operation *last, ArrayRef<Value> gradients) {
  auto mark = [](Operation *op) {
    if (isa_and_present<CallOp>(op))
      setOpAttr<attr::KeepsAddends>(op, UnitAttr::get(op->getContext()));
  };
  for (Value gradient : gradients)
    if (gradient)
      mark(gradient.getDefiningOp());
  for (Operation *op = last->getNextNode(); op && !op->hasTrait<OpTrait::IsTerminator>(); op = op->getNextNode())
    mark(op);
}

/// The call that computes a gradient, before it was laid out.
static CallOp gradientCall(Value gradient) {
  while (auto match = gradient.getDefiningOp<MatchOp>())
    gradient = match.getGradient();
  return gradient.getDefiningOp<CallOp>();
}

void Gradients::visit(ConstrainOp constrain) { propagate(constrain); }

/// True for a conversion that the plan inserted, unless it would widen the gradient: the gradient of a value that was
/// rounded only to be read or gathered must not be rounded.
bool Gradients::isIdentity(CallOp call) const {
  Value gradient = call->hasAttr(attr::Precision::getNameStr()) ? made.lookup(call.getResult(0)) : Value();
  return gradient && elementBytes(gradient.getType()) >= elementBytes(call.getOperand(0).getType());
}

/// The gradient of a result that forwards its operand unchanged is the gradient of the operand.
void Gradients::propagate(Operation *op) {
  auto found = made.find(op->getResult(0));
  if (found == made.end() || !active.contains(op->getOperand(0)))
    return;
  Value gradient = found->second;
  add(op->getOperand(0), gradient, gradientCall(gradient));
}

void Gradients::add(Value value, Value addend, CallOp from) {
  // The ops are visited in reverse order, so that all readers of a value have contributed before its own call is
  // visited.
  auto [known, isNew] = made.insert({value, addend});
  if (isNew)
    return;
  // A gradient that was never rounded may be wider than its value.
  Type sum = elementOf(known->second);
  if (elementBytes(addend.getType()) > elementBytes(known->second.getType()))
    sum = elementOf(addend);
  known->second = CallBuilder::backward("aten.add.Tensor", from, insertion)
                      .tensor("self", known->second)
                      .tensor("other", addend)
                      .build(shapeOf(value), sum);
}

Value Gradients::matched(Value value) {
  Value gradient = made.lookup(value);
  return MatchOp::create(insertion, value.getLoc(), RankedTensorType::get(shapeOf(value), elementOf(gradient)),
                         gradient, value, ArrayAttr());
}
