//===- flat_calls.h - calls on tensors without their dims -------*- C++ -*-===//
//
// A flat tensor is a run of the elements of a rank, in row-major order. Only
// operators that do not know the place of an element run on one.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_COMPILER_SHARDING_CALLS_FLAT_CALLS_H
#define MESHPLAN_COMPILER_SHARDING_CALLS_FLAT_CALLS_H

#include "compiler/sharding/axes.h"

namespace meshplan {

/// True if an operand of the call is flat.
bool hasFlatOperand(plan::CallOp call);

/// True if the call may run on its operands as they are: its operator is pointwise, and all that have dims are the same
/// part of tensors of one shape, of which ranks share nothing where they are added up. All operands are decided.
bool runsFlat(plan::CallOp call);

/// The shardings of the results of a call that runs flat: that of the operands, or of a sum of all elements an addend
/// over everything that divides them.
llvm::SmallVector<plan::ShardingAttr> flatResults(plan::CallOp call, plan::MeshOp mesh);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_SHARDING_CALLS_FLAT_CALLS_H
