//===- dim_extents.h - extents of named dims --------------------*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_FRONTEND_DIM_EXTENTS_H
#define MESHPLAN_COMPILER_FRONTEND_DIM_EXTENTS_H

#include "compiler/frontend/bind.h"
#include "llvm/ADT/StringMap.h"

namespace meshplan {

/// The extent of each dim that an input of the plan names.
llvm::StringMap<int64_t> dimExtents(const BoundPlan &plan);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_FRONTEND_DIM_EXTENTS_H
