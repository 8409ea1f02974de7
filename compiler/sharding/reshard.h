//===- reshard.h - from one sharding to another in steps --------*- C++ -*-===//
//
// Resharding as an algorithm with an end. Each step is one collective (or a
// local slice) and brings the sharding closer to the target: it removes a
// partial axis, puts an axis where the target has it, or removes an axis that
// is in the way; no step adds what a later one must remove, except that an axis
// stuck below one that has to go is gathered and sliced back. A dim whose shards
// change by their units or parts is gathered and sliced anew. What is flat is
// gathered before dims change, and made flat when they are as they should be:
// by a reduce-scatter over partial axes, else by a slice. Source: the order
// slice, permute, all-to-all, all-gather of Shardy's reshard-to-collectives;
// reduce-scatter is formed here instead of by later canonicalisation.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_COMPILER_SHARDING_RESHARD_H
#define MESHPLAN_COMPILER_SHARDING_RESHARD_H

#include "compiler/sharding/axes.h"

namespace meshplan {

enum class ReshardStepKind { slice, permute, allToAll, allGather, reduceScatter, allReduce };

struct ReshardStep {
  ReshardStepKind kind;
  AxisList axes;
  /// slice, all-gather, reduce-scatter: the dim, or -1 for the flat axes; all-to-all: the dim that is divided
  int64_t dim = -1;
  int64_t fromDim = -1; ///< all-to-all: the dim that is gathered
  plan::ShardingAttr result;
};

/// Steps that lead from the sharding of `from` to `to`. Both are closed and canonical; `to` is partial only over axes
/// over which `from` is. The last step's result is `to`; no step if they are equal.
llvm::SmallVector<ReshardStep> planReshard(mlir::RankedTensorType from, plan::ShardingAttr to, plan::MeshOp mesh);

/// Bytes that the busiest rank sends in one step on a ring: (n-1)/n of the whole for gather, scatter and all-to-all,
/// twice that for all-reduce, the shard for a permutation, nothing for a slice. `input` is the type before the step.
int64_t stepBytes(const ReshardStep &step, mlir::RankedTensorType input, plan::MeshOp mesh);

/// Sum of stepBytes on the way of a tensor from its sharding to `to`.
int64_t reshardBytes(mlir::RankedTensorType from, plan::ShardingAttr to, plan::MeshOp mesh);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_SHARDING_RESHARD_H
