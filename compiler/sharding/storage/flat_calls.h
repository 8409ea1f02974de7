//===- flat_calls.h - calls on flat tensors ---------------------*- C++ -*-===//
//
// A flat tensor is a contiguous run of the elements of a rank, in row-major
// order. Only operators that do not depend on the position of an element run on
// one.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_COMPILER_SHARDING_STORAGE_FLAT_CALLS_H
#define MESHPLAN_COMPILER_SHARDING_STORAGE_FLAT_CALLS_H

#include "compiler/sharding/axes.h"

namespace meshplan {

/// True if an operand of the call is flat.
bool hasFlatOperand(plan::CallOp call);

/// True if the call can run on its operands as they are. Its operator must be pointwise, and all operands with dims
/// must be the same part of tensors of one shape; where their elements are summed, ranks must share none. All operands
/// are decided.
bool runsFlat(plan::CallOp call);

/// The shardings of the results of a call that runs flat: those of the operands; for a sum of all elements, partial
/// over all axes that divide the operands.
llvm::SmallVector<plan::ShardingAttr> flatResults(plan::CallOp call, plan::MeshOp mesh);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_SHARDING_STORAGE_FLAT_CALLS_H
