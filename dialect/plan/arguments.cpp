//===- arguments.cpp - queries about arguments of a program ---------------===//

#include "dialect/plan/plan.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace meshplan::plan;

StringRef meshplan::plan::argumentKind(BlockArgument argument) {
  auto function = dyn_cast<FunctionOpInterface>(argument.getOwner()->getParentOp());
  if (!function || !argument.getOwner()->isEntryBlock())
    return "";
  auto kind = function.getArgAttrOfType<StringAttr>(argument.getArgNumber(), "plan.kind");
  return kind ? kind.getValue() : StringRef();
}

DataOp meshplan::plan::dataOf(BlockArgument argument) {
  auto function = dyn_cast<FunctionOpInterface>(argument.getOwner()->getParentOp());
  auto number = function ? function.getArgAttrOfType<IntegerAttr>(argument.getArgNumber(), "plan.data") : IntegerAttr();
  if (!number)
    return {};
  auto statements = function->getParentOfType<ModuleOp>().getOps<DataOp>();
  return *std::next(statements.begin(), number.getInt());
}

bool meshplan::plan::isOnHost(Value value) {
  if (Operation *op = value.getDefiningOp())
    return op->hasAttr(hostAttrName);
  auto argument = cast<BlockArgument>(value);
  auto function = dyn_cast<FunctionOpInterface>(argument.getOwner()->getParentOp());
  return function && function.getArgAttr(argument.getArgNumber(), hostAttrName);
}

bool meshplan::plan::isWeight(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  StringRef kind = argument ? argumentKind(argument) : StringRef();
  return kind == "parameter" || kind == "buffer";
}

bool meshplan::plan::isFromWeights(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (!isa<CallOp, ReshardOp>(op) || op->getNumOperands() != 1)
      break;
    value = op->getOperand(0);
  }
  return isWeight(value) || value.getDefiningOp<ConstantOp>();
}
