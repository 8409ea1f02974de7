//===- layout_text.h - shardings in the words of a plan ---------*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_SHARDING_LAYOUT_TEXT_H
#define MESHPLAN_COMPILER_SHARDING_LAYOUT_TEXT_H

#include "dialect/plan/plan.h"
#include <string>

namespace meshplan {

/// "[4 over dp, 96, 576 over tp unit 64]"; behind it ", partial over tp" if the ranks hold addends. The type has a
/// sharding.
std::string layoutText(mlir::RankedTensorType type);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_SHARDING_LAYOUT_TEXT_H
