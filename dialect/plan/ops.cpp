//===- ops.cpp - operations of the plan dialect ---------------------------===//

#include "dialect/plan/plan.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace meshplan::plan;

#define GET_OP_CLASSES
#include "dialect/plan/ops.cpp.inc"

static MeshAxisAttr meshAxis(MeshOp mesh, int64_t index) { return cast<MeshAxisAttr>(mesh.getAxes()[index]); }

int64_t MeshOp::getWorldSize() {
  int64_t size = 1;
  for (int64_t index = 0, end = getAxes().size(); index < end; ++index)
    size *= getAxisSize(index);
  return size;
}

int64_t MeshOp::findAxis(StringRef name) {
  for (int64_t index = 0, end = getAxes().size(); index < end; ++index)
    if (meshAxis(*this, index).getName() == name)
      return index;
  return -1;
}

int64_t MeshOp::getAxisSize(int64_t index) { return meshAxis(*this, index).getSize(); }

SmallVector<StringRef> MeshOp::getAxisNames() {
  SmallVector<StringRef> names;
  for (int64_t index = 0, end = getAxes().size(); index < end; ++index)
    names.push_back(meshAxis(*this, index).getName());
  return names;
}

bool CallOp::isInModule(StringRef path) {
  StringRef module = getModule().value_or("");
  return path.empty() || module == path || (module.consume_front(path) && module.starts_with("."));
}

/// The batch has one part for each microbatch, so that each rank holds a shard of every microbatch. Example: a batch of
/// 8 in 2 microbatches over dp=2. Rank 0 holds rows 0-1 and 4-5, rank 1 rows 2-3 and 6-7; microbatch 0, rows 0-3, is
/// then split evenly without moving a row.
DimShardingAttr EnterMicrobatchOp::divideBatch(int64_t extent, int64_t count, ArrayRef<AxisRefAttr> axes, MeshOp mesh) {
  SmallVector<DimPart> microbatches(count, DimPart(extent / count));
  return divideDim(extent, axes, mesh, /*unit=*/1, microbatches);
}

DimShardingAttr meshplan::plan::batchOfRuns(int64_t extent, DimShardingAttr run, MeshOp mesh) {
  int64_t count = mesh.getAxisSize(mesh.findAxis(timeAxisName));
  return EnterMicrobatchOp::divideBatch(extent, count, run.getAxes().drop_front(), mesh);
}

ShardingAttr EnterMicrobatchOp::getResultSharding() {
  ShardingAttr whole = getSharding(getInput());
  ArrayRef<AxisRefAttr> axes = whole.getDims()[getDim()].getAxes();
  return whole.withDim(getDim(), divideDim(getResult().getType().getDimSize(getDim()), axes, getMesh(*this)));
}

ShardingAttr LeaveMicrobatchOp::getResultSharding() {
  ShardingAttr own = getSharding(getInput());
  SmallVector<AxisRefAttr> axes(own.getPartialAxes());
  axes.push_back(AxisRefAttr::get(getContext(), timeAxisName));
  return own.withPartial(Reduction::sum, axes);
}
