//===- border_help.cpp - borders at which a layout can be stated ----------===//

#include "compiler/transforms/propagate/border_help.h"
#include "compiler/sharding/dataflow/module_border.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <functional>

using namespace mlir;
using namespace meshplan;
using namespace meshplan::plan;

namespace {

int64_t numberOf(Value value, ArrayRef<BorderValue> values) {
  return llvm::find_if(values, [&](const BorderValue &other) { return other.value == value; }) - values.begin();
}

std::string clause(StringRef path, StringRef side, int64_t number, StringRef layout) {
  std::string index = number == 0 ? "" : " " + std::to_string(number);
  return (path + ": " + side + index + " " + layout).str();
}

std::string atBorder(OpOperand &operand, StringRef layout, const StatedLayouts &statements) {
  auto user = cast<CallOp>(operand.getOwner());
  auto function = user->getParentOfType<func::FuncOp>();
  Value value = originOf(operand.get());
  // Borders are about activations.
  if (isFromWeights(value) || value.getDefiningOp<ConstantOp>())
    return "";
  auto producer = value.getDefiningOp<CallOp>();
  StringRef to = user.getModule().value_or(""), from = producer ? producer.getModule().value_or("") : "";
  // The output of the producing module is preferred: a layout there holds for all readers. A value whose layout is
  // stated there already can only be changed for one reader, at its input.
  if (!from.empty() && !statements.isStated(value))
    if (ModuleRun maker{from, moduleRun(producer, from)}; !maker.holds(user))
      return clause(from, "output", numberOf(value, findBorder(function, maker).outputs), layout);
  if (!to.empty() && !statements.isInput(value, to))
    if (ModuleRun reader{to, moduleRun(user, to)}; !reader.holds(producer))
      return clause(to, "input", numberOf(value, findBorder(function, reader).inputs), layout);
  return "";
}

std::string inBrackets(ArrayRef<std::string> dims) { return "[" + llvm::join(dims, ", ") + "]"; }

/// A dim in the syntax of a plan's list of dims; nothing if it has none. Time has no name in a plan: the layout holds
/// in each microbatch.
std::optional<std::string> dimText(DimShardingAttr dim) {
  if (!llvm::all_of(dim.getAxes(), std::mem_fn(&AxisRefAttr::isWhole)))
    return std::nullopt;
  SmallVector<StringRef> axes;
  for (AxisRefAttr axis : dim.getAxes())
    if (!isTime(axis))
      axes.push_back(axis.getName());
  if (axes.empty())
    return "_";
  return axes.size() == 1 ? "_ over " + axes[0].str() : "_ over (" + llvm::join(axes, ", ") + ")";
}

} // namespace

void StatedLayouts::add(ConstrainOp constrain) {
  modules[originOf(constrain.getInput())].push_back(moduleOfInput(constrain));
}

bool StatedLayouts::isInput(Value origin, StringRef module) const {
  return llvm::any_of(modules.lookup(origin), [&](StringAttr name) { return name && name.getValue() == module; });
}

std::string meshplan::atBorder(OpOperand &operand, ShardingAttr layout, const StatedLayouts &statements) {
  SmallVector<std::string> dims;
  for (DimShardingAttr dim : layout.getDims()) {
    std::optional<std::string> text = dimText(dim);
    if (!text || !dim.getParts().empty())
      return "";
    dims.push_back(*text);
  }
  return ::atBorder(operand, inBrackets(dims), statements);
}

std::string meshplan::wholeAtBorder(OpOperand &operand, const StatedLayouts &statements) {
  SmallVector<std::string> dims(cast<RankedTensorType>(operand.get().getType()).getRank(), "_");
  return ::atBorder(operand, inBrackets(dims), statements);
}

std::string meshplan::wholeAtBorder(OpOperand &operand, unsigned dim, const StatedLayouts &statements) {
  SmallVector<std::string> dims;
  for (auto [index, sharding] : llvm::enumerate(getSharding(operand.get()).getDims()))
    dims.push_back(index == dim ? "_" : dimText(sharding).value_or("_"));
  return ::atBorder(operand, inBrackets(dims), statements);
}
