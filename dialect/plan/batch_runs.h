//===- batch_runs.h - microbatches that are runs of the batch ---*- C++ -*-===//

#ifndef MESHPLAN_DIALECT_PLAN_BATCH_RUNS_H
#define MESHPLAN_DIALECT_PLAN_BATCH_RUNS_H

#include "dialect/plan/plan.h"

namespace meshplan::plan {

/// True if a dim is divided over time first, so that a microbatch is a run of it, and over other axes then.
inline bool isRunOfBatch(DimShardingAttr dim) { return dim.getAxes().size() > 1 && isTime(dim.getAxes().front()); }

/// The layout of a batch of this extent of which that is a microbatch: all of them, divided part by part.
DimShardingAttr batchOfRuns(int64_t extent, DimShardingAttr run, MeshOp mesh);

} // namespace meshplan::plan

#endif // MESHPLAN_DIALECT_PLAN_BATCH_RUNS_H
