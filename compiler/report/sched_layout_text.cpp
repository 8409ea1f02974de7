//===- sched_layout_text.cpp - layouts as text ----------------------------===//

#include "compiler/report/sched_layout_text.h"

#include "compiler/support/parts_clause.h"

using namespace mlir;

namespace meshplan {

static void printAxes(llvm::raw_ostream &stream, ArrayRef<sched::AxisAttr> axes, sched::MeshOp mesh) {
  llvm::interleaveComma(axes, stream, [&](sched::AxisAttr axis) {
    auto meshAxis = cast<sched::MeshAxisAttr>(mesh.getAxes()[axis.getAxis()]);
    stream << meshAxis.getName();
    if (axis.getSize() != meshAxis.getSize())
      stream << ":(" << axis.getPre() << ')' << axis.getSize();
  });
}

static void printDim(llvm::raw_ostream &stream, sched::DimAttr dim, sched::MeshOp mesh) {
  stream << dim.getExtent();
  if (dim.getAxes().empty())
    return;
  bool several = dim.getAxes().size() > 1;
  stream << " over " << (several ? "(" : "");
  printAxes(stream, dim.getAxes(), mesh);
  stream << (several ? ")" : "");
  printElementGroups(stream, dim.getUnit(), dim.getParts(), dim.getRepeat());
}

std::string layoutText(sched::ShardedTensorType type, sched::MeshOp mesh) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << '[';
  llvm::interleaveComma(type.getDims(), stream, [&](sched::DimAttr dim) { printDim(stream, dim, mesh); });
  stream << ']';
  if (!type.getFlatAxes().empty())
    printAxes(stream << " flat over ", type.getFlatAxes(), mesh);
  return text;
}

std::string dtypeText(Type elementType) {
  if (elementType.isInteger(1))
    return "bool";
  std::string text;
  llvm::raw_string_ostream(text) << elementType;
  return text;
}

} // namespace meshplan
