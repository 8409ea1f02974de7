//===- border_help.cpp - the border at which a value can be laid out ------===//

#include "compiler/transforms/propagate/border_help.h"
#include "dialect/plan/module_runs.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"
#include <functional>

using namespace mlir;
using namespace meshplan;
using namespace meshplan::plan;

namespace {

bool isLayoutStep(Operation *op) { return isa_and_nonnull<ConstrainOp, ReshardOp>(op); }

/// The value as the model knows it, before any layout that was stated or asked for.
Value originOf(Value value) {
  while (isLayoutStep(value.getDefiningOp()))
    value = value.getDefiningOp()->getOperand(0);
  return value;
}

/// One call of a module, known by an operator that belongs to it.
struct ModuleCall {
  StringRef path;
  CallOp member;

  bool holds(Operation *op) const {
    auto call = dyn_cast_or_null<CallOp>(op);
    return call && call.isInModule(path) && moduleRun(call, path) == moduleRun(member, path);
  }
};

bool isReadOutside(Value value, const ModuleCall &module) {
  return llvm::any_of(value.getUsers(), [&](Operation *user) {
    return isLayoutStep(user) ? isReadOutside(user->getResult(0), module) : !module.holds(user);
  });
}

/// True for values that are computed or given: not a weight, a buffer or a constant.
bool isActivation(Value value) {
  return isa<BlockArgument>(value) ? !isWeight(value) : !isa<ConstantOp>(value.getDefiningOp());
}

/// Which output of the module the value is: outputs count in the order of the program.
int64_t outputNumber(Value value, const ModuleCall &module) {
  int64_t number = 0;
  for (Operation &op : *value.getParentBlock()) {
    if (value.getDefiningOp() != &op && !module.holds(&op))
      continue;
    for (Value result : op.getResults()) {
      if (result == value)
        return number;
      number += isReadOutside(result, module);
    }
  }
  return number;
}

/// Which input of the module the value is: inputs count in the order in which it first reads them.
int64_t inputNumber(Value value, const ModuleCall &module) {
  llvm::SetVector<Value> inputs;
  for (Operation &op : *value.getParentBlock()) {
    if (!module.holds(&op))
      continue;
    for (Value operand : op.getOperands())
      if (Value origin = originOf(operand); isActivation(origin) && !module.holds(origin.getDefiningOp()))
        inputs.insert(origin);
    if (inputs.contains(value))
      break;
  }
  return llvm::find(inputs, value) - inputs.begin();
}

std::string clause(StringRef path, StringRef side, int64_t number, StringRef layout) {
  std::string index = number == 0 ? "" : " " + std::to_string(number);
  return (path + ": " + side + index + " " + layout).str();
}

std::string atBorder(OpOperand &operand, StringRef layout) {
  auto user = cast<CallOp>(operand.getOwner());
  Value value = originOf(operand.get());
  // Borders speak of activations.
  if (isFromWeights(value) || !isActivation(value))
    return "";
  auto producer = value.getDefiningOp<CallOp>();
  StringRef to = user.getModule().value_or(""), from = producer ? producer.getModule().value_or("") : "";
  ModuleCall maker{from, producer}, reader{to, user};
  if (!from.empty() && !maker.holds(user))
    return clause(from, "output", outputNumber(value, maker), layout);
  if (!to.empty() && !reader.holds(producer))
    return clause(to, "input", inputNumber(value, reader), layout);
  return "";
}

std::string inBrackets(ArrayRef<std::string> dims) { return "[" + llvm::join(dims, ", ") + "]"; }

/// A dim as a list of dims says it; nothing if it cannot.
std::optional<std::string> dimText(DimShardingAttr dim) {
  if (!llvm::all_of(dim.getAxes(), std::mem_fn(&AxisRefAttr::isWhole)))
    return std::nullopt;
  SmallVector<StringRef> axes = llvm::map_to_vector(dim.getAxes(), [](AxisRefAttr axis) { return axis.getName(); });
  if (axes.empty())
    return "_";
  return axes.size() == 1 ? "_ over " + axes[0].str() : "_ over (" + llvm::join(axes, ", ") + ")";
}

} // namespace

std::string meshplan::atBorder(OpOperand &operand, ShardingAttr layout) {
  SmallVector<std::string> dims;
  for (DimShardingAttr dim : layout.getDims()) {
    std::optional<std::string> text = dimText(dim);
    if (!text || !dim.getParts().empty())
      return "";
    dims.push_back(*text);
  }
  return ::atBorder(operand, inBrackets(dims));
}

std::string meshplan::wholeAtBorder(OpOperand &operand) {
  SmallVector<std::string> dims(cast<RankedTensorType>(operand.get().getType()).getRank(), "_");
  return ::atBorder(operand, inBrackets(dims));
}

std::string meshplan::wholeAtBorder(OpOperand &operand, unsigned dim) {
  SmallVector<std::string> dims;
  for (auto [index, sharding] : llvm::enumerate(getSharding(operand.get()).getDims()))
    dims.push_back(index == dim ? "_" : dimText(sharding).value_or("_"));
  return ::atBorder(operand, inBrackets(dims));
}
