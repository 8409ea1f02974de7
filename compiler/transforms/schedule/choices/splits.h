//===- splits.h - what may be split into parts ------------------*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_TRANSFORMS_SCHEDULE_CHOICES_SPLITS_H
#define MESHPLAN_COMPILER_TRANSFORMS_SCHEDULE_CHOICES_SPLITS_H

#include "compiler/transforms/schedule/build_problem.h"

namespace meshplan {

/// Adds to the problem which of its operations may be split into at most `mostParts` parts, with the costs of a part:
/// a collective of activations, with the products whose result it moves, or with those that read its result. Parts are
/// rows: equal ranges of a dim that the collective does not move. Into how many parts they may be split are the powers
/// of two up to `mostParts`, and `mostParts`, that divide the extent of this dim on every rank.
///
/// Nothing is split whose parts would not be contiguous, whose arguments depend on the shape of a shard, or that takes
/// rows by their position, as a random operator does.
void addSplittables(mlir::func::FuncOp function, ProjectedFunction &projection, int64_t mostParts,
                    const Cluster &cluster, LayoutTable &layouts);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_TRANSFORMS_SCHEDULE_CHOICES_SPLITS_H
