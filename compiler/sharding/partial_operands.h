//===- partial_operands.h - where addends may enter -------------*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_SHARDING_PARTIAL_OPERANDS_H
#define MESHPLAN_COMPILER_SHARDING_PARTIAL_OPERANDS_H

#include "compiler/sharding/op_record.h"

namespace meshplan {

/// The operands that are partial over `axis` although the operator may not take them so; empty if it may. It may if it
/// is linear in exactly the operands that are partial sums over the axis, or only moves the elements of the one that
/// is partial, and if the axis divides no operand. Pure and thread safe.
llvm::SmallVector<unsigned> findRejectedPartials(const Linearity &linearity,
                                                 llvm::ArrayRef<plan::ShardingAttr> operands, plan::AxisRefAttr axis);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_SHARDING_PARTIAL_OPERANDS_H
