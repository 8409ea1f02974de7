//===- einsum.h - record of products that are written as letters -*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_SHARDING_RECORD_SUPPORT_EINSUM_H
#define MESHPLAN_COMPILER_SHARDING_RECORD_SUPPORT_EINSUM_H

#include "compiler/sharding/op_record.h"

namespace meshplan {

/// A letter is a factor. An equation with an ellipsis, or with a letter twice in one tensor, divides nothing.
FactorRule einsumRule(const CallView &call);

/// Each operand alone.
Linearity einsumLinearity(const CallView &call);

/// A product of two operands is one of lists of matrices, into which both are reshaped.
OpCost einsumCost(const CallView &call);

/// The product of lists of matrices, with its dims in the order of the equation; of one operand a view with its dims in
/// another order.
Strides einsumStrides(const CallView &call, unsigned result);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_SHARDING_RECORD_SUPPORT_EINSUM_H
