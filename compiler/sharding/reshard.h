//===- reshard.h - plans a reshard as a list of steps -----------*- C++ -*-===//
//
// Plans the collectives that change one sharding into another. Each step is one
// collective (or a local slice) that brings the sharding closer to the target:
// it removes a partial axis, puts an axis where the target has it, or gathers
// an axis that the target does not have there. No step adds an axis that a
// later step must remove, with one exception: an axis that is minor to a
// gathered axis is gathered with it and sliced back. So the loop ends. The
// target is not decided here but by propagate: for a partial tensor, a target
// that is divided over the partial axis gives a reduce-scatter, a replicated
// one an all-reduce.
//
// Until dims and partial axes are those of the target, the first of these steps
// that applies is taken:
//
//   slice           the target divides a dim next over a free axis
//   reduce-scatter  the target divides a dim next over a partial axis
//   all-reduce      partial axes remain that the target does not have
//   slice           shared blocks have to move: each rank keeps its own
//   permute         every dim has its number of shards, but other axes
//   all-to-all      a minor axis of one dim is the next axis of another
//   all-gather      a dim has surplus axes
//
// A dim whose blocks or parts change is gathered and sliced again. Flat axes
// are gathered before dims change, and made after: by a reduce-scatter over
// partial axes, else by a slice. Time comes before all of these: an all-reduce
// over time is an accumulation, without communication, and a slice over time
// takes a microbatch.
//
// Example: a float32 tensor [8, 4] on a mesh a = 2, b = 2.
//
//   [{a}, {}] partial b -> [{}, {b, a}]
//
//   step                    sharding             local    bytes sent
//                           [{a}, {}] partial b  4 x 4
//   reduce-scatter b dim 1  [{a}, {b}]           4 x 2    32
//   all-to-all a dim 0 to 1 [{}, {b, a}]         8 x 1    16
//
// No slice applies first, because a divides dim 0 and b is partial. The target
// starts dim 1 with b, so the sum over b is left scattered. Then a, the surplus
// of dim 0, is the next axis of dim 1.
//
// For the target [{}, {a, b}] the sum cannot be scattered, because a comes
// before b in dim 1: the steps are all-reduce b, all-to-all a from dim 0 to dim
// 1, slice b.
//
// Source: the order slice, permute, all-to-all, all-gather of Shardy's
// reshard-to-collectives. Here reduce-scatter is planned directly instead of
// formed by a later canonicalization.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_COMPILER_SHARDING_RESHARD_H
#define MESHPLAN_COMPILER_SHARDING_RESHARD_H

#include "compiler/sharding/axes.h"

namespace meshplan {

struct ReshardStep {
  std::optional<plan::CollectiveKind> kind; ///< none: a slice, which is local
  AxisList axes;
  /// slice, all-gather, reduce-scatter: the dim, or -1 for the flat axes; all-to-all: the dim that is divided
  int64_t dim = -1;
  int64_t fromDim = -1; ///< all-to-all: the dim that is gathered
  plan::ShardingAttr result;
};

/// The steps from the sharding of `from` to `to`. Both are closed and canonical, and `to` is partial only over axes
/// over which `from` is. The result of the last step is `to`; there are no steps if both are equal.
llvm::SmallVector<ReshardStep> planReshard(mlir::RankedTensorType from, plan::ShardingAttr to, plan::MeshOp mesh);

/// Bytes that a rank sends (base::sentBytes) in all steps from the sharding of `from` to `to`.
double reshardBytes(mlir::RankedTensorType from, plan::ShardingAttr to, plan::MeshOp mesh);

/// Bytes that a rank sends in a collective op.
double sentBytes(mlir::Operation *collective, plan::MeshOp mesh);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_SHARDING_RESHARD_H
