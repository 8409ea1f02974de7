//===- module_border.cpp - inputs and outputs of a module -----------------===//

#include "compiler/sharding/dataflow/module_border.h"
#include "dialect/plan/attributes.h"
#include "dialect/plan/updates.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace meshplan;
using namespace meshplan::plan;

bool meshplan::isReshardStep(Operation *op) { return isa<ConstrainOp, ReshardOp, SliceOp>(op) || collectiveKindOf(op); }

Value meshplan::originOf(Value value) {
  while (Operation *producer = value.getDefiningOp()) {
    if (!isReshardStep(producer))
      break;
    value = producer->getOperand(0);
  }
  return value;
}

bool meshplan::isInModule(Operation *op, StringRef path) {
  auto call = dyn_cast<CallOp>(op);
  return call && call.isInModule(path);
}

SmallVector<OpOperand *> meshplan::usesAfterReshards(Value value) {
  SmallVector<OpOperand *> uses;
  SmallVector<Value> forms{value};
  // Resharded forms of the value are appended while the list is walked, so their uses are found, too.
  for (size_t index = 0; index < forms.size(); ++index)
    for (OpOperand &use : forms[index].getUses())
      if (isReshardStep(use.getOwner()))
        forms.push_back(use.getOwner()->getResult(0));
      else
        uses.push_back(&use);
  return uses;
}

void meshplan::markInput(ConstrainOp constrain, StringRef path) {
  setOpAttr<attr::InputOf>(constrain, StringAttr::get(constrain.getContext(), path));
}

StringAttr meshplan::moduleOfInput(ConstrainOp constrain) { return opAttr<attr::InputOf>(constrain); }

void meshplan::markOutput(ConstrainOp constrain, StringRef path) {
  setOpAttr<attr::OutputOf>(constrain, StringAttr::get(constrain.getContext(), path));
}

StringAttr meshplan::moduleOfOutput(ConstrainOp constrain) { return opAttr<attr::OutputOf>(constrain); }

static ModuleBorder findBorderOf(func::FuncOp function, llvm::function_ref<bool(Operation *)> isInside) {
  ModuleBorder border;
  llvm::MapVector<Value, SmallVector<OpOperand *>> inputs;
  for (auto call : function.getOps<CallOp>()) {
    if (!isInside(call))
      continue;
    border.calls.push_back(call);
    for (OpOperand &operand : call->getOpOperands()) {
      Value origin = originOf(operand.get());
      Operation *producer = origin.getDefiningOp();
      // All resharded forms of a value are one input.
      if (!isWeight(origin) && !origin.getDefiningOp<ConstantOp>() && !(producer && isInside(producer)))
        inputs[origin].push_back(&operand);
    }
    for (Value result : call.getResults()) {
      BorderValue output{result, usesAfterReshards(result)};
      // An update of a buffer is read by the run, not by another module, and has no layout of its own to state.
      llvm::erase_if(output.uses, [&](OpOperand *use) { return isInside(use->getOwner()) || isUpdate(*use); });
      if (!output.uses.empty())
        border.outputs.push_back(std::move(output));
    }
  }
  for (auto &[value, uses] : inputs)
    border.inputs.push_back({value, std::move(uses)});
  return border;
}

/// The results of forward() of the model, in order. Updates of buffers are not among them.
static SmallVector<BorderValue> returnedBy(func::FuncOp function) {
  SmallVector<BorderValue> outputs;
  for (OpOperand &use : function.getBody().front().getTerminator()->getOpOperands())
    if (!isUpdate(use))
      outputs.push_back({originOf(use.get()), {&use}});
  return outputs;
}

ModuleBorder meshplan::findBorder(func::FuncOp function, StringRef path) {
  ModuleBorder border = findBorderOf(function, [&](Operation *op) { return isInModule(op, path); });
  if (path.empty())
    border.outputs = returnedBy(function);
  return border;
}

ModuleBorder meshplan::findBorder(func::FuncOp function, ModuleRun run) {
  return findBorderOf(function, [&](Operation *op) { return run.holds(op); });
}
