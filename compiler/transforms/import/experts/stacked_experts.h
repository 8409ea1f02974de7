//===- stacked_experts.h - stacked experts that see all tokens --*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_TRANSFORMS_IMPORT_EXPERTS_STACKED_EXPERTS_H
#define MESHPLAN_COMPILER_TRANSFORMS_IMPORT_EXPERTS_STACKED_EXPERTS_H

#include "compiler/transforms/import/experts/routed_region.h"

namespace meshplan {

/// The region that ends in `sum`, if it adds the results of experts with stacked weights over all tokens, which are 0
/// for tokens that have not chosen the expert; nullopt if it does not. Changes nothing.
std::optional<RoutedRegion> readStackedExperts(IndexFunctions &functions, plan::CallOp sum);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_TRANSFORMS_IMPORT_EXPERTS_STACKED_EXPERTS_H
