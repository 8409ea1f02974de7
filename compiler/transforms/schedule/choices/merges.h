//===- merges.h - which collectives are merged ------------------*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_TRANSFORMS_SCHEDULE_CHOICES_MERGES_H
#define MESHPLAN_COMPILER_TRANSFORMS_SCHEDULE_CHOICES_MERGES_H

#include "compiler/transforms/schedule/build_problem.h"
#include "compiler/transforms/schedule/operation_costs.h"

namespace meshplan {

/// Adds to the problem which of its collectives may be merged (`plan.mergeable`), with the costs of their copies.
/// Collectives that overwrite a tensor, or that are packed or unpacked on their own, are not merged. What every
/// instance of the function runs is not merged with what only the last one runs.
void addMergeables(mlir::func::FuncOp function, ProjectedFunction &projection, const Cluster &cluster,
                   LayoutTable &layouts);

/// Sets the costs of an operation of `problem` that is one of several merged collectives, `ops`, or one of their
/// copies.
void setMergedCosts(scheduling::Operation &operation, llvm::ArrayRef<mlir::Operation *> ops,
                    const scheduling::Problem &problem, OperationCosts &costs, LayoutTable &layouts);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_TRANSFORMS_SCHEDULE_CHOICES_MERGES_H
