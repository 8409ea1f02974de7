//===- arguments.cpp - queries about arguments of a program ---------------===//

#include "dialect/plan/attributes.h"
#include "dialect/plan/plan.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "runtime/schema/program_names.h"

using namespace mlir;
using namespace meshplan;
using namespace meshplan::plan;

std::optional<ArgumentKind> meshplan::plan::argumentKind(BlockArgument argument) {
  ArgumentKindAttr kind = argAttr<attr::Kind>(argument);
  return kind ? std::optional(kind.getValue()) : std::nullopt;
}

StringRef meshplan::plan::parameterName(BlockArgument parameter) {
  ArrayAttr names = argAttr<attr::Names>(parameter);
  return names && !names.empty() ? cast<StringAttr>(names[0]).getValue() : StringRef("parameter");
}

std::optional<unsigned> meshplan::plan::batchDimOf(BlockArgument input) {
  ArrayAttr names = argAttr<attr::Dims>(input);
  if (!names)
    return std::nullopt;
  for (auto [dim, name] : llvm::enumerate(names.getAsRange<StringAttr>()))
    if (name.getValue() == StringRef(program_names::batchDim))
      return dim;
  return std::nullopt;
}

DataOp meshplan::plan::dataOf(BlockArgument argument) {
  IntegerAttr number = argAttr<attr::Data>(argument);
  if (!number)
    return {};
  auto statements = argument.getOwner()->getParentOp()->getParentOfType<ModuleOp>().getOps<DataOp>();
  return *std::next(statements.begin(), number.getInt());
}

bool meshplan::plan::gathersInStep(BlockArgument parameter) {
  DataOp data = dataOf(parameter);
  BoolAttr isTrained = argAttr<attr::Trainable>(parameter);
  return data && data.getGatherInStep() && isTrained && isTrained.getValue();
}

bool meshplan::plan::isStoredDivided(BlockArgument parameter) {
  DataOp data = dataOf(parameter);
  return (data && data.getShard() == DataStage::parameters) || gathersInStep(parameter);
}

bool meshplan::plan::isOnHost(Value value) {
  if (Operation *op = value.getDefiningOp())
    return op->hasAttr(attr::Host::getNameStr());
  return argAttr<attr::Host>(cast<BlockArgument>(value)) != nullptr;
}

bool meshplan::plan::isWeight(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  std::optional<ArgumentKind> kind = argument ? argumentKind(argument) : std::nullopt;
  return kind == ArgumentKind::parameter || kind == ArgumentKind::buffer;
}

bool meshplan::plan::isFromWeights(Value value) {
  // Through conversions and changes of layout, which have one operand. What has several computes something of its own.
  while (Operation *op = value.getDefiningOp()) {
    if (!isa<CallOp, ReshardOp>(op) || op->getNumOperands() != 1)
      break;
    value = op->getOperand(0);
  }
  return isWeight(value) || value.getDefiningOp<ConstantOp>();
}
