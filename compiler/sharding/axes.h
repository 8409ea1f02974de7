//===- axes.h - lists of mesh axes and their digits -------------*- C++ -*-===//
//
// Pure functions on lists of axes, major to minor. Every axis must be an axis
// of the mesh that is passed (verified before). Thread safe.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_COMPILER_SHARDING_AXES_H
#define MESHPLAN_COMPILER_SHARDING_AXES_H

#include "dialect/plan/plan.h"

namespace meshplan {

using AxisList = llvm::SmallVector<plan::AxisRefAttr, 2>;

/// The axis or digit {index, pre, size} in canonical form: a digit that covers its axis is the whole axis.
plan::AxisRefAttr makeAxis(plan::MeshOp mesh, int64_t index, int64_t pre, int64_t size);

/// The axes in an attribute of an op.
inline AxisList toAxes(mlir::ArrayAttr axes) { return AxisList(axes.getAsRange<plan::AxisRefAttr>()); }

/// The axes of size greater than 1. An axis of size 1 would only make collectives over one rank.
AxisList dividingAxes(llvm::ArrayRef<plan::AxisRefAttr> axes, plan::MeshOp mesh);

/// The partial axes of a sharding that are time.
AxisList timeAxesOf(plan::ShardingAttr sharding);

/// Sorts axes whose order has no meaning, so that equal shardings are equal attributes.
void sortByMesh(AxisList &axes, plan::MeshOp mesh);

/// Number of shards that one axis or digit makes.
int64_t axisSize(plan::AxisRefAttr axis, plan::MeshOp mesh);

/// Splits an axis into its major digit of `size` and the rest. `size` divides the size of the axis and is neither 1 nor
/// all of it.
std::pair<plan::AxisRefAttr, plan::AxisRefAttr> splitAxis(plan::AxisRefAttr axis, int64_t size, plan::MeshOp mesh);

/// Joins neighbouring list entries that are adjacent digits of one axis.
AxisList mergeDigits(llvm::ArrayRef<plan::AxisRefAttr> axes, plan::MeshOp mesh);

/// The partial axes, then those of each dim, then the flat ones.
AxisList allAxes(plan::ShardingAttr sharding);

/// True if any of `axes` has a digit in common with `axis`.
bool overlapsAny(llvm::ArrayRef<plan::AxisRefAttr> axes, plan::AxisRefAttr axis);

/// Adds an axis to a list without overlaps. Entries that overlap it are merged with it into the smallest digit that
/// contains them all.
void addAxis(AxisList &axes, plan::AxisRefAttr axis, plan::MeshOp mesh);

/// The entries of `axes` that overlap none of `removed`.
AxisList without(llvm::ArrayRef<plan::AxisRefAttr> axes, llvm::ArrayRef<plan::AxisRefAttr> removed);

/// The sharding of `type` without `removed` in any dim and among the partial and flat axes.
plan::ShardingAttr without(mlir::RankedTensorType type, llvm::ArrayRef<plan::AxisRefAttr> removed, plan::MeshOp mesh);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_SHARDING_AXES_H
