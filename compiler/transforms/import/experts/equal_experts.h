//===- equal_experts.h - experts that are modules of their own --*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_TRANSFORMS_IMPORT_EXPERTS_EQUAL_EXPERTS_H
#define MESHPLAN_COMPILER_TRANSFORMS_IMPORT_EXPERTS_EQUAL_EXPERTS_H

#include "compiler/transforms/import/experts/routed_region.h"
#include "compiler/transforms/import/experts/sparse_gates.h"

namespace meshplan {

/// The region that ends in `sum`, if it adds the results of all experts, each for all tokens and times its gate;
/// nullopt if it does not. Changes nothing.
std::optional<RoutedRegion> readEqualExperts(SparseGatesReader &gates, plan::CallOp sum);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_TRANSFORMS_IMPORT_EXPERTS_EQUAL_EXPERTS_H
