//===- merges.h - which collectives are merged ------------------*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_TRANSFORMS_SCHEDULE_MERGES_H
#define MESHPLAN_COMPILER_TRANSFORMS_SCHEDULE_MERGES_H

#include "compiler/transforms/schedule/build_problem.h"

namespace meshplan {

/// Adds to the problem which of its collectives may be merged (`plan.mergeable`), with the costs of their copies.
/// Collectives that overwrite a tensor, or that are packed or unpacked on their own, are not merged. What every
/// instance of the function runs is not merged with what only the last one runs.
void addMergeables(mlir::func::FuncOp function, ProjectedFunction &projection, const Cluster &cluster,
                   LayoutTable &layouts);

/// The projection in which these lists of operations are merged, with the costs of the merged collectives. `merged` is
/// that of a verified solution, whose steps refer to the operations of the result.
ProjectedFunction resolveMerges(const ProjectedFunction &projection, llvm::ArrayRef<std::vector<unsigned>> merged,
                                const Cluster &cluster, LayoutTable &layouts);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_TRANSFORMS_SCHEDULE_MERGES_H
