//===- wanted_layout.h - layouts that consumers want ------------*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_TRANSFORMS_PROPAGATE_WANTED_LAYOUT_H
#define MESHPLAN_COMPILER_TRANSFORMS_PROPAGATE_WANTED_LAYOUT_H

#include "compiler/sharding/axes.h"

namespace meshplan {

/// A dim, or -1, and the reason.
struct WantedDim {
  int64_t dim = -1;
  plan::ConstrainOp statement; ///< the layout that the plan states, or null
  mlir::Value neighbour;       ///< else the value that already has the axis
};

/// The dim of `value` that some consumer wants to be divided over `axis`. In order of precedence: a layout that the
/// plan states for the value; the layout that the other operands of a consumer have; the layout that the consumers of a
/// consumer's result want. Visits a bounded number of operators, so that propagation stays linear.
WantedDim findWantedDim(mlir::Value value, plan::AxisRefAttr axis, plan::MeshOp mesh);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_TRANSFORMS_PROPAGATE_WANTED_LAYOUT_H
