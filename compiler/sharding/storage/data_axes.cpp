//===- data_axes.cpp - what a data statement divides a parameter over ------===//

#include "compiler/sharding/storage/data_axes.h"

using namespace mlir;
using namespace meshplan;
using namespace meshplan::plan;

AxisList meshplan::dataAxesOf(BlockArgument parameter, MeshOp mesh) {
  DataOp data = dataOf(parameter);
  if (!data)
    return {};
  AxisList divided;
  for (DimShardingAttr dim : getSharding(parameter).getDims())
    divided.append(dim.getAxes().begin(), dim.getAxes().end());
  return remainderOf(dividingAxes(toAxes(data.getAxes()), mesh), divided, mesh);
}
