//===- region.h - regions with autocast disabled ----------------*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_TRANSFORMS_IMPORT_AUTOCAST_REGION_H
#define MESHPLAN_COMPILER_TRANSFORMS_IMPORT_AUTOCAST_REGION_H

#include "llvm/ADT/StringRef.h"

namespace meshplan {

/// An attribute of a call under `torch.autocast(..., enabled=False)`: the type of device to which this applies, or
/// archive::everyDevice. Present only between the import of a plan with `compute` and `plan-autocast`.
inline constexpr llvm::StringLiteral autocastOffName = "plan.autocast_off";

} // namespace meshplan

#endif // MESHPLAN_COMPILER_TRANSFORMS_IMPORT_AUTOCAST_REGION_H
