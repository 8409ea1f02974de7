//===- partial_operands.h - operands that may be partial --------*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_SHARDING_PARTIAL_OPERANDS_H
#define MESHPLAN_COMPILER_SHARDING_PARTIAL_OPERANDS_H

#include "compiler/sharding/op_record.h"

namespace meshplan {

/// The operands in which the call is linear. On the path to parameters, conversions that round count as linear, too,
/// such as the conversion of a gradient to a 16-bit parameter that is read in a wider type: addends of a rank are
/// rounded as its gradients would be, and 16-bit addends are computed in float32 anyway.
Linearity linearityOf(plan::CallOp call);

/// The operands that are partial over `axis` although the call does not accept this; empty if it accepts them. It
/// accepts them if
/// - the operands that are partial over the axis are exactly one of the sets in which the call is linear (a
///   concatenation needs all of its operands to be addends, because a replicated one would be counted on every rank),
/// - they are sums, or the operator only moves elements, and
/// - the axis divides no operand.
///
/// Pure and thread safe.
llvm::SmallVector<unsigned> findRejectedPartials(const Linearity &linearity,
                                                 llvm::ArrayRef<plan::ShardingAttr> operands, plan::AxisRefAttr axis);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_SHARDING_PARTIAL_OPERANDS_H
