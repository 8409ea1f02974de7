//===- wanted_layout.h - where consumers would like a value -----*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_TRANSFORMS_PROPAGATE_WANTED_LAYOUT_H
#define MESHPLAN_COMPILER_TRANSFORMS_PROPAGATE_WANTED_LAYOUT_H

#include "compiler/sharding/axes.h"

namespace meshplan {

/// A dim, or -1, and who speaks for it.
struct WantedDim {
  int64_t dim = -1;
  plan::ConstrainOp statement; ///< the layout that the plan states, or null
  mlir::Value neighbour;       ///< else the value that has the axis already
};

/// The dim of `value` that some consumer would like to be divided over `axis`. Consumers speak in this order: a
/// layout that the plan states for the value, the layout that the other operands of the consumer already have, what
/// the consumers of the consumer's result would like. Looks at a bounded number of operators, so that the whole of
/// propagation stays linear.
WantedDim findWantedDim(mlir::Value value, plan::AxisRefAttr axis, plan::MeshOp mesh);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_TRANSFORMS_PROPAGATE_WANTED_LAYOUT_H
