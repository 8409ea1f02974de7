//===- style_text.cpp - text for messages about styles --------------------===//

#include "compiler/transforms/place/style_text.h"

using namespace mlir;
using namespace meshplan;
using namespace meshplan::plan;

std::string meshplan::axisNames(ArrayRef<AxisRefAttr> axes) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  llvm::interleave(axes, stream, [&](AxisRefAttr axis) { stream << axis.getName(); }, " x ");
  return text;
}

std::string meshplan::axisWords(ArrayRef<AxisRefAttr> axes) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  llvm::interleaveComma(axes, stream, [&](AxisRefAttr axis) { stream << axis.getName(); });
  return axes.size() > 1 ? "(" + text + ")" : text;
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
