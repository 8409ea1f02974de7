//===- einsum.h - record of einsum ------------------------------*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_SHARDING_RECORD_SUPPORT_EINSUM_H
#define MESHPLAN_COMPILER_SHARDING_RECORD_SUPPORT_EINSUM_H

#include "compiler/sharding/op_record.h"

namespace meshplan {

/// A letter is a factor. An equation with an ellipsis, or with a letter twice in one tensor, is not divided.
FactorRule einsumRule(const CallView &call);

/// Linear in each operand alone.
Linearity einsumLinearity(const CallView &call);

/// A product of two operands is a batched matrix product, for which both are reshaped.
OpCost einsumCost(const CallView &call);

/// The batched matrix product, with its dims in the order of the equation; for a single operand a view with permuted
/// dims.
Strides einsumStrides(const CallView &call, unsigned result);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_SHARDING_RECORD_SUPPORT_EINSUM_H
