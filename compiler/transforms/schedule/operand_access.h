//===- operand_access.h - how a call accesses its operands ------*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_TRANSFORMS_SCHEDULE_OPERAND_ACCESS_H
#define MESHPLAN_COMPILER_TRANSFORMS_SCHEDULE_OPERAND_ACCESS_H

#include "compiler/sharding/op_record.h"

namespace meshplan {

/// How a call on local shapes accesses its operands, as one of cluster_keys::accesses; empty if they are alike: one
/// dtype, the shape of the result, and one order in memory. Of several accesses the one that costs most on CPUs counts:
/// dtypes, then order, then shape. Operands of one element and of other types than floats do not count. Of a call that
/// is not pointwise only the order counts: all operands are row-major, or the access is strided.
llvm::StringRef operandAccess(const CallView &call, bool isPointwise);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_TRANSFORMS_SCHEDULE_OPERAND_ACCESS_H
