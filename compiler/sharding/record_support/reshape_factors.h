//===- reshape_factors.h - factors that two shapes share --------*- C++ -*-===//
//
// A reshape keeps the row-major order of the elements. The dims of both shapes
// are split into factors that they share: [4, 96, 576] and [4, 96, 9, 64] share
// 4, 96, 9 and 64. Where sizes have no common divisor, `whole` factors remain:
// [6] and [2, 3] share 2 and 3, but [3, 2] and [2, 3] share nothing.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_COMPILER_SHARDING_RECORD_SUPPORT_RESHAPE_FACTORS_H
#define MESHPLAN_COMPILER_SHARDING_RECORD_SUPPORT_RESHAPE_FACTORS_H

#include "compiler/sharding/record_support/rule_builder.h"

namespace meshplan {

/// Gives the shared factors to the dims of `from` and `to`, two tensors with the same number of elements. Does nothing
/// if the numbers differ or are 0; the dims then end as `whole`.
void shareFactors(RuleBuilder &builder, TensorRef from, TensorRef to);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_SHARDING_RECORD_SUPPORT_RESHAPE_FACTORS_H
