//===- cost.h - costs that many operators share -----------------*- C++ -*-===//
//
// Costs are those of ATen on CPU. Shapes are local.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_COMPILER_SHARDING_RECORD_SUPPORT_COST_H
#define MESHPLAN_COMPILER_SHARDING_RECORD_SUPPORT_COST_H

#include "compiler/sharding/op_record.h"

namespace meshplan {

/// Bytes of all elements of a tensor of this (local) type.
int64_t tensorBytes(mlir::RankedTensorType type);

/// Bytes of all operands and results.
int64_t trafficBytes(const CallView &call);

/// A view: no work, no memory.
OpCost viewCost(const CallView &call);

/// Reads the operands and writes the results; no arithmetic.
OpCost copyCost(const CallView &call);

/// `flops` for each element of the first result. TensorIterator first converts operands whose dtype differs from the
/// common one as whole tensors; these are the workspace. A wider result determines the common dtype.
OpCost pointwiseCost(const CallView &call, int64_t flops);

template <int64_t Flops> OpCost pointwiseCost(const CallView &call) { return pointwiseCost(call, Flops); }

/// The size of the last dim of an argument, or 1.
int64_t lastDim(const CallView &call, llvm::StringRef name);

/// Two flops for each product of elements: elements of the first result times the contracted size.
OpCost productCost(const CallView &call, int64_t contracted);

/// Rows of one of the groups that end at the elements of operand `offs`, if all groups have the same size: the products
/// of groups are computed one at a time.
int64_t rowsOfGroup(const CallView &call, int64_t rows);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_SHARDING_RECORD_SUPPORT_COST_H
