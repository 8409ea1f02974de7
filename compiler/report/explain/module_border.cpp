//===- module_border.cpp - what enters and leaves a module ----------------===//

#include "compiler/report/explain/module_border.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace meshplan;
using namespace meshplan::plan;

bool meshplan::isReshardStep(Operation *op) {
  return isa<AllGatherOp, ReduceScatterOp, AllReduceOp, AllToAllOp, PermuteOp, SliceOp>(op);
}

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

SmallVector<OpOperand *> meshplan::usesBehindReshards(Value value) {
  SmallVector<OpOperand *> uses;
  SmallVector<Value> forms{value};
  for (size_t index = 0; index < forms.size(); ++index)
    for (OpOperand &use : forms[index].getUses())
      if (isReshardStep(use.getOwner()))
        forms.push_back(use.getOwner()->getResult(0));
      else
        uses.push_back(&use);
  return uses;
}

ModuleBorder meshplan::findBorder(func::FuncOp function, StringRef path) {
  ModuleBorder border;
  llvm::MapVector<Value, SmallVector<OpOperand *>> inputs;
  for (auto call : function.getOps<CallOp>()) {
    if (!isInModule(call, path))
      continue;
    border.calls.push_back(call);
    for (OpOperand &operand : call->getOpOperands()) {
      Value origin = originOf(operand.get());
      Operation *producer = origin.getDefiningOp();
      if (!isWeight(origin) && !origin.getDefiningOp<ConstantOp>() && !(producer && isInModule(producer, path)))
        inputs[origin].push_back(&operand);
    }
    for (Value result : call.getResults()) {
      BorderValue output{result, usesBehindReshards(result)};
      llvm::erase_if(output.uses, [&](OpOperand *use) { return isInModule(use->getOwner(), path); });
      if (!output.uses.empty())
        border.outputs.push_back(std::move(output));
    }
  }
  for (auto &[value, uses] : inputs)
    border.inputs.push_back({value, std::move(uses)});
  return border;
}
