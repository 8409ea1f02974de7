//===- layout_text.h - shardings in the syntax of a plan --------*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_SHARDING_LAYOUT_TEXT_H
#define MESHPLAN_COMPILER_SHARDING_LAYOUT_TEXT_H

#include "dialect/plan/plan.h"
#include <string>

namespace meshplan {

/// `dp`, or `dp:(1)4` for a digit.
std::string axisText(plan::AxisRefAttr axis);

/// `dp`, or `(pod, dp)` for several.
std::string axesText(llvm::ArrayRef<plan::AxisRefAttr> axes);

/// "[4 over dp, 96, 576 over tp unit 64]", followed by ", partial over tp" if the tensor is partial. The type must have
/// a sharding.
std::string layoutText(mlir::RankedTensorType type);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_SHARDING_LAYOUT_TEXT_H
