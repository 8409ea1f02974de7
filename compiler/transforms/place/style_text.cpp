//===- style_text.cpp - what messages about styles name -------------------===//

#include "compiler/transforms/place/style_text.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;
using namespace meshplan;
using namespace meshplan::plan;

StringRef meshplan::parameterName(BlockArgument parameter) {
  auto function = cast<func::FuncOp>(parameter.getOwner()->getParentOp());
  auto names = function.getArgAttrOfType<ArrayAttr>(parameter.getArgNumber(), "plan.names");
  return names && !names.empty() ? cast<StringAttr>(names[0]).getValue() : StringRef("parameter");
}

std::string meshplan::axisNames(ArrayRef<AxisRefAttr> axes) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  llvm::interleave(axes, stream, [&](AxisRefAttr axis) { stream << axis.getName(); }, " x ");
  return text;
}

std::string meshplan::describeAxes(ArrayRef<AxisRefAttr> axes, MeshOp mesh) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  llvm::interleaveComma(axes, stream,
                        [&](AxisRefAttr axis) { stream << axis.getName() << " = " << resolveAxis(axis, mesh).size; });
  return text;
}

std::string meshplan::describeSplits(ShardingAttr sharding) {
  std::string text;
  for (auto [index, dim] : llvm::enumerate(sharding.getDims()))
    if (!dim.getAxes().empty())
      text += (text.empty() ? "dim " : ", dim ") + std::to_string(index) + " over " + axisNames(dim.getAxes());
  return text;
}
