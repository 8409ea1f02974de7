//===- row_loads.h - memory by the rows of experts --------------*- C++ -*-===//
//
// How many rows of experts a rank has follows from the router, when the program
// runs. Times and order are those of equally chosen experts; the memory of the
// same order is also that of other numbers of rows.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_COMPILER_TRANSFORMS_SCHEDULE_ROW_LOADS_H
#define MESHPLAN_COMPILER_TRANSFORMS_SCHEDULE_ROW_LOADS_H

#include "compiler/transforms/schedule/build_problem.h"
#include "dialect/sched/sched.h"

namespace meshplan {

/// True if a rank may have another number of rows than the balanced one. `worst`: layouts with the largest numbers.
bool hasAnyRows(mlir::func::FuncOp function, LayoutTable &worst);

/// The projection, in which nothing is left to choose, with the bytes and workspaces that follow from `layouts`.
mlir::FailureOr<ProjectedFunction> withLoad(mlir::func::FuncOp function, const ProjectedFunction &projection,
                                            const Cluster &cluster, LayoutTable &layouts,
                                            CommunicatorTable &communicators);

/// Peaks of a program if all experts are chosen equally often, and if all tokens choose those of one rank.
struct LoadPeaks {
  int64_t balanced = 0, worst = 0;
};

sched::MemoryAttr withLoads(sched::MemoryAttr memory, LoadPeaks peaks);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_TRANSFORMS_SCHEDULE_ROW_LOADS_H
