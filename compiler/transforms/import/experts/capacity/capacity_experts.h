//===- capacity_experts.h - experts with a capacity -------------*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_TRANSFORMS_IMPORT_EXPERTS_CAPACITY_CAPACITY_EXPERTS_H
#define MESHPLAN_COMPILER_TRANSFORMS_IMPORT_EXPERTS_CAPACITY_CAPACITY_EXPERTS_H

#include "compiler/transforms/import/experts/routed_region.h"

namespace meshplan {

/// The region of experts whose results `combine`, an einsum, gives back to tokens by one-hot vectors of their
/// positions; nullopt for all else. Inserts calls for the gates, which nothing else reads, in front of `combine`.
std::optional<RoutedRegion> readCapacityExperts(IndexFunctions &functions, plan::CallOp combine);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_TRANSFORMS_IMPORT_EXPERTS_CAPACITY_CAPACITY_EXPERTS_H
