//===- data_axes.cpp - what a data statement divides a parameter over ------===//

#include "compiler/sharding/storage/data_axes.h"

using namespace mlir;
using namespace meshplan;
using namespace meshplan::plan;

/// What `removed` leaves of a digit that it overlaps.
static AxisList leftOf(AxisRefAttr axis, AxisRefAttr removed, MeshOp mesh) {
  AxisRef whole = resolveAxis(axis, mesh), part = resolveAxis(removed, mesh);
  int64_t end = whole.pre * whole.size, begin = std::max(whole.pre, part.pre);
  int64_t rest = std::min(end, part.pre * part.size);
  AxisList left;
  if (begin % whole.pre != 0 || rest % begin != 0 || end % rest != 0)
    return left;
  if (begin > whole.pre)
    left.push_back(makeAxis(mesh, whole.axis, whole.pre, begin / whole.pre));
  if (rest < end)
    left.push_back(makeAxis(mesh, whole.axis, rest, end / rest));
  return left;
}

AxisList meshplan::remainderOf(ArrayRef<AxisRefAttr> axes, ArrayRef<AxisRefAttr> removed, MeshOp mesh) {
  AxisList left(axes);
  for (AxisRefAttr digit : removed) {
    AxisList next;
    for (AxisRefAttr axis : left)
      if (axis.overlaps(digit))
        next.append(leftOf(axis, digit, mesh));
      else
        next.push_back(axis);
    left = std::move(next);
  }
  return left;
}

AxisList meshplan::dataAxesOf(BlockArgument parameter, MeshOp mesh) {
  DataOp data = dataOf(parameter);
  if (!data)
    return {};
  AxisList divided;
  for (DimShardingAttr dim : getSharding(parameter).getDims())
    divided.append(dim.getAxes().begin(), dim.getAxes().end());
  return remainderOf(dividingAxes(toAxes(data.getAxes()), mesh), divided, mesh);
}
