//===- data_axes.h - what a data statement divides a parameter over -*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_SHARDING_STORAGE_DATA_AXES_H
#define MESHPLAN_COMPILER_SHARDING_STORAGE_DATA_AXES_H

#include "compiler/sharding/axes.h"

namespace meshplan {

/// What `removed` leave of `axes`, digit by digit: of "a" of size 8, "a":(4)2 leaves "a":(1)4. An entry that cannot be
/// cut where a removed digit begins or ends is removed whole.
AxisList remainderOf(llvm::ArrayRef<plan::AxisRefAttr> axes, llvm::ArrayRef<plan::AxisRefAttr> removed,
                     plan::MeshOp mesh);

/// The axes over which the data statement of a parameter divides what is flat of it: those of the statement, without
/// the digits that divide its dims. Ranks that hold different experts have no copy of one another's weights, so data
/// parallelism of these weights is over what the experts leave: of dp = 8, experts over dp:(4)2 leave dp:(1)4. Empty if
/// nothing is left, or without a statement.
AxisList dataAxesOf(mlir::BlockArgument parameter, plan::MeshOp mesh);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_SHARDING_STORAGE_DATA_AXES_H
