//===- merges.h - collectives that travel together --------------*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_TRANSFORMS_SCHEDULE_MERGES_H
#define MESHPLAN_COMPILER_TRANSFORMS_SCHEDULE_MERGES_H

#include "compiler/transforms/schedule/build_problem.h"

namespace meshplan {

/// Adds to the problem which of its collectives may travel together (`plan.mergeable`), with the costs of their copies.
/// Not those that overwrite a tensor, or whose own tensor is copied for them: these travel alone. What every instance
/// of the function runs does not travel with what only the last one runs.
void addMergeables(mlir::func::FuncOp function, ProjectedFunction &projection, const Cluster &cluster,
                   LayoutTable &layouts);

/// The projection in which these lists of operations are merged: what is coalesced runs as if it had been in one bucket
/// before. `merged` is that of a verified solution, whose steps are about the result.
ProjectedFunction resolveMerges(const ProjectedFunction &projection, llvm::ArrayRef<std::vector<unsigned>> merged,
                                const Cluster &cluster, LayoutTable &layouts);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_TRANSFORMS_SCHEDULE_MERGES_H
