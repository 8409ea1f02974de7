//===- partial_operands.h - where addends may enter -------------*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_SHARDING_PARTIAL_OPERANDS_H
#define MESHPLAN_COMPILER_SHARDING_PARTIAL_OPERANDS_H

#include "compiler/sharding/op_record.h"

namespace meshplan {

/// The operands that are partial over `axis` although the operator may not take them so; empty if it may. It may if the
/// operands that are partial over the axis are exactly one of the sets in which it is linear (a concatenation needs all
/// of its operands to be addends, or the whole ones would be counted on every rank), if they are sums or the operator
/// only moves elements, and if the axis divides no operand. Pure and thread safe.
llvm::SmallVector<unsigned> findRejectedPartials(const Linearity &linearity,
                                                 llvm::ArrayRef<plan::ShardingAttr> operands, plan::AxisRefAttr axis);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_SHARDING_PARTIAL_OPERANDS_H
