//===- layout_text.cpp - shardings in the syntax of a plan ----------------===//

#include "compiler/sharding/layout_text.h"
#include "compiler/support/parts_clause.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace meshplan::plan;

std::string meshplan::axisText(AxisRefAttr axis) {
  std::string text = axis.getName().str();
  if (!axis.isWhole())
    text += ":(" + std::to_string(axis.getPre()) + ")" + std::to_string(axis.getSize());
  return text;
}

std::string meshplan::axesText(llvm::ArrayRef<AxisRefAttr> axes) {
  std::string text = llvm::join(llvm::map_range(axes, axisText), ", ");
  return axes.size() > 1 ? "(" + text + ")" : text;
}

static void printDim(llvm::raw_ostream &stream, int64_t extent, DimShardingAttr dim) {
  stream << extent;
  if (dim.getAxes().empty())
    return;
  stream << " over " << meshplan::axesText(dim.getAxes());
  meshplan::printElementGroups(stream, dim.getUnit(), dim.getParts(), dim.getRepeat());
}

std::string meshplan::layoutText(mlir::RankedTensorType type) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  ShardingAttr sharding = getSharding(type);
  stream << '[';
  llvm::interleaveComma(llvm::enumerate(sharding.getDims()), stream,
                        [&](auto dim) { printDim(stream, type.getDimSize(dim.index()), dim.value()); });
  stream << ']';
  if (sharding.isPartial()) {
    stream << ", partial over " << axesText(sharding.getPartialAxes());
  }
  if (sharding.isFlat()) {
    stream << ", flat over " << axesText(sharding.getFlatAxes());
  }
  return text;
}
