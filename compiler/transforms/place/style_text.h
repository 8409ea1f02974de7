//===- style_text.h - text for messages about styles ------------*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_TRANSFORMS_PLACE_STYLE_TEXT_H
#define MESHPLAN_COMPILER_TRANSFORMS_PLACE_STYLE_TEXT_H

#include "dialect/plan/plan.h"
#include <string>

namespace meshplan {

/// "tp x cp"
std::string axisNames(llvm::ArrayRef<plan::AxisRefAttr> axes);

/// In the syntax of a plan: "tp", "(tp, cp)"
std::string axisWords(llvm::ArrayRef<plan::AxisRefAttr> axes);

/// "tp = 2, cp = 4"
std::string describeAxes(llvm::ArrayRef<plan::AxisRefAttr> axes, plan::MeshOp mesh);

/// "dim 0 over tp, dim 1 over cp x dp"
std::string describeSplits(plan::ShardingAttr sharding);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_TRANSFORMS_PLACE_STYLE_TEXT_H
