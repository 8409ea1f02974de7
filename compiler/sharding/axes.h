//===- axes.h - lists of mesh axes and their digits -------------*- C++ -*-===//
//
// Pure functions on lists of axes, major to minor. Every axis is one of the
// mesh that is passed along (verified before). Thread safe.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_COMPILER_SHARDING_AXES_H
#define MESHPLAN_COMPILER_SHARDING_AXES_H

#include "dialect/plan/plan.h"

namespace meshplan {

using AxisList = llvm::SmallVector<plan::AxisRefAttr, 2>;

/// The axis or digit {index, pre, size} in its only spelling: whole if it covers the axis.
plan::AxisRefAttr makeAxis(plan::MeshOp mesh, int64_t index, int64_t pre, int64_t size);

/// The axes of an op that lists them.
inline AxisList toAxes(mlir::ArrayAttr axes) { return AxisList(axes.getAsRange<plan::AxisRefAttr>()); }

/// Those that divide: one of size 1 would only make collectives among one rank.
AxisList dividingAxes(llvm::ArrayRef<plan::AxisRefAttr> axes, plan::MeshOp mesh);

/// Of the axes over which a value is partial, that of microbatches.
AxisList timeAxesOf(plan::ShardingAttr sharding);

/// One order for what is a set, so that equal shardings are equal attributes.
void sortByMesh(AxisList &axes, plan::MeshOp mesh);

/// Number of shards that one axis or digit makes.
int64_t axisSize(plan::AxisRefAttr axis, plan::MeshOp mesh);

/// Splits an axis into its major digit of `size` and the rest. `size` divides the axis and is neither 1 nor all of it.
std::pair<plan::AxisRefAttr, plan::AxisRefAttr> splitAxis(plan::AxisRefAttr axis, int64_t size, plan::MeshOp mesh);

/// Joins neighbours that are adjacent digits of one axis.
AxisList mergeDigits(llvm::ArrayRef<plan::AxisRefAttr> axes, plan::MeshOp mesh);

/// The axes over which values of this sharding are addends, then those of each dim, then the flat ones.
AxisList allAxes(plan::ShardingAttr sharding);

/// True if any of `axes` shares a digit with `axis`.
bool overlapsAny(llvm::ArrayRef<plan::AxisRefAttr> axes, plan::AxisRefAttr axis);

/// Adds an axis to a list of which no two share a digit. Those that it shares digits with become one with it: the least
/// digit that holds them all.
void addAxis(AxisList &axes, plan::AxisRefAttr axis, plan::MeshOp mesh);

/// The axes of `axes` that share no digit with any of `removed`.
AxisList without(llvm::ArrayRef<plan::AxisRefAttr> axes, llvm::ArrayRef<plan::AxisRefAttr> removed);

/// The sharding of `type` with `removed` taken out of every dim, of what is partial and of what is flat.
plan::ShardingAttr without(mlir::RankedTensorType type, llvm::ArrayRef<plan::AxisRefAttr> removed, plan::MeshOp mesh);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_SHARDING_AXES_H
