//===- routed_calls.h - the calls of a routed region ------------*- C++ -*-===//
//
// Shapes are global: a routed tensor is [experts, *token dims, *features], and holds something only where the token has
// chosen the expert.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_COMPILER_TRANSFORMS_IMPORT_EXPERTS_ROUTED_CALLS_H
#define MESHPLAN_COMPILER_TRANSFORMS_IMPORT_EXPERTS_ROUTED_CALLS_H

#include "compiler/transforms/import/experts/routed_region.h"

namespace meshplan {

/// Builds the calls of a region without an obstacle, beside the calls that they replace, and makes the readers of each
/// sum over slots read the new one. The old calls stay; nothing reads them.
void buildRoutedCalls(const RoutedRegion &region);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_TRANSFORMS_IMPORT_EXPERTS_ROUTED_CALLS_H
