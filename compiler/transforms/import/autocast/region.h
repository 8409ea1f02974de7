//===- region.h - calls of regions without autocast --------------*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_TRANSFORMS_IMPORT_AUTOCAST_REGION_H
#define MESHPLAN_COMPILER_TRANSFORMS_IMPORT_AUTOCAST_REGION_H

#include "llvm/ADT/StringRef.h"

namespace meshplan {

/// The attribute of a call that the model makes under `torch.autocast(..., enabled=False)`: the type of device that
/// this holds for, or archive::everyDevice. Only between the import of a plan with `compute` and `plan-autocast`.
inline constexpr llvm::StringLiteral autocastOffName = "plan.autocast_off";

} // namespace meshplan

#endif // MESHPLAN_COMPILER_TRANSFORMS_IMPORT_AUTOCAST_REGION_H
