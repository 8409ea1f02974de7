//===- reshape_factors.h - what two shapes have in common -------*- C++ -*-===//
//
// A reshape keeps the row-major order of the elements. The dims of both shapes
// are cut into factors that they share: [4, 96, 576] to [4, 96, 9, 64] shares 4,
// 96, 9 and 64. Sizes that have no common divisor at a place ([6] to [2, 3]
// share 2 and 3, [3, 2] to [2, 3] nothing) leave whole pieces.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_COMPILER_SHARDING_RECORD_SUPPORT_RESHAPE_FACTORS_H
#define MESHPLAN_COMPILER_SHARDING_RECORD_SUPPORT_RESHAPE_FACTORS_H

#include "compiler/sharding/record_support/rule_builder.h"

namespace meshplan {

/// Gives the factors that they share to the dims of `from` and `to`, two
/// tensors with the same number of elements. Does nothing if the numbers differ
/// or are 0: the dims end as `whole`.
void shareFactors(RuleBuilder &builder, TensorRef from, TensorRef to);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_SHARDING_RECORD_SUPPORT_RESHAPE_FACTORS_H
