//===- axes.cpp - lists of mesh axes and their digits ---------------------===//

#include "compiler/sharding/axes.h"
#include "llvm/ADT/STLExtras.h"
#include <numeric>

using namespace meshplan;
using namespace meshplan::plan;
using llvm::ArrayRef;

AxisRefAttr meshplan::makeAxis(MeshOp mesh, int64_t index, int64_t pre, int64_t size) {
  // A whole axis has one form, so that equal axes are equal attributes.
  if (pre == 1 && size == mesh.getAxisSize(index))
    pre = size = 0;
  return AxisRefAttr::get(mesh.getContext(), mesh.getAxisNames()[index], pre, size);
}

int64_t meshplan::axisSize(AxisRefAttr axis, MeshOp mesh) { return resolveAxis(axis, mesh).size; }

std::pair<AxisRefAttr, AxisRefAttr> meshplan::splitAxis(AxisRefAttr axis, int64_t size, MeshOp mesh) {
  AxisRef whole = resolveAxis(axis, mesh);
  assert(size > 1 && size < whole.size && whole.size % size == 0);
  // For example, an axis of 6 splits into "a":(1)2 and "a":(2)3: coordinate 4 has the digits 1 and 1.
  return {makeAxis(mesh, whole.axis, whole.pre, size), makeAxis(mesh, whole.axis, whole.pre * size, whole.size / size)};
}

AxisList meshplan::mergeDigits(ArrayRef<AxisRefAttr> axes, MeshOp mesh) {
  AxisList merged;
  for (AxisRefAttr axis : axes) {
    if (!merged.empty()) {
      AxisRef last = resolveAxis(merged.back(), mesh), next = resolveAxis(axis, mesh);
      // The next digit begins where the last one ends.
      if (last.axis == next.axis && last.pre * last.size == next.pre) {
        merged.back() = makeAxis(mesh, last.axis, last.pre, last.size * next.size);
        continue;
      }
    }
    merged.push_back(axis);
  }
  return merged;
}

AxisList meshplan::dividingAxes(ArrayRef<AxisRefAttr> axes, MeshOp mesh) {
  AxisList dividing;
  llvm::copy_if(axes, std::back_inserter(dividing), [&](AxisRefAttr axis) { return axisSize(axis, mesh) > 1; });
  return dividing;
}

AxisList meshplan::timeAxesOf(ShardingAttr sharding) {
  AxisList axes;
  llvm::copy_if(sharding.getPartialAxes(), std::back_inserter(axes), isTime);
  return axes;
}

void meshplan::sortByMesh(AxisList &axes, MeshOp mesh) {
  llvm::sort(axes, [&](AxisRefAttr left, AxisRefAttr right) {
    AxisRef a = resolveAxis(left, mesh), b = resolveAxis(right, mesh);
    return std::pair(a.axis, a.pre) < std::pair(b.axis, b.pre);
  });
}

AxisList meshplan::allAxes(ShardingAttr sharding) {
  AxisList axes(sharding.getPartialAxes());
  for (DimShardingAttr dim : sharding.getDims())
    axes.append(dim.getAxes().begin(), dim.getAxes().end());
  axes.append(sharding.getFlatAxes().begin(), sharding.getFlatAxes().end());
  return axes;
}

bool meshplan::overlapsAny(ArrayRef<AxisRefAttr> axes, AxisRefAttr axis) {
  return llvm::any_of(axes, [&](AxisRefAttr other) { return other.overlaps(axis); });
}

/// The smallest digit that contains two digits of one axis.
static AxisRefAttr smallestDigitContaining(AxisRefAttr left, AxisRefAttr right, MeshOp mesh) {
  AxisRef one = resolveAxis(left, mesh), other = resolveAxis(right, mesh);
  // A digit (pre)size reads a coordinate between the divisors `pre` and `pre * size`. A common digit must begin at a
  // divisor of both beginnings and end at a multiple of both ends: of an axis of 12, (1)4 and (2)6 give (1)12.
  int64_t pre = std::gcd(one.pre, other.pre), end = std::lcm(one.pre * one.size, other.pre * other.size);
  return makeAxis(mesh, one.axis, pre, end / pre);
}

void meshplan::addAxis(AxisList &axes, AxisRefAttr axis, MeshOp mesh) {
  // The merged digit replaces the most major of those that it contains.
  size_t position = axes.size();
  for (size_t index = 0; index < axes.size();) {
    if (!axes[index].overlaps(axis)) {
      ++index;
      continue;
    }
    axis = smallestDigitContaining(axes[index], axis, mesh);
    axes.erase(axes.begin() + index);
    position = std::min(position, index);
    index = 0; // the larger digit may overlap an axis before this one
  }
  axes.insert(axes.begin() + std::min(position, axes.size()), axis);
}

AxisList meshplan::without(ArrayRef<AxisRefAttr> axes, ArrayRef<AxisRefAttr> removed) {
  AxisList rest;
  for (AxisRefAttr axis : axes)
    if (!overlapsAny(removed, axis))
      rest.push_back(axis);
  return rest;
}

ShardingAttr meshplan::without(mlir::RankedTensorType type, ArrayRef<AxisRefAttr> removed, MeshOp mesh) {
  ShardingAttr sharding = getSharding(type), result = sharding;
  for (int64_t dim = 0; dim < sharding.getRank(); ++dim) {
    DimShardingAttr own = sharding.getDims()[dim];
    // Blocks and parts stay, so that the remaining axes still divide along the same borders.
    result = result.withDim(dim, divideDim(type.getDimSize(dim), without(own.getAxes(), removed), mesh, own));
  }
  return result.withPartial(sharding.getReduction(), without(sharding.getPartialAxes(), removed))
      .withFlat(without(sharding.getFlatAxes(), removed));
}
