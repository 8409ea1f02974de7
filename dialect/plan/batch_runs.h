//===- batch_runs.h - contiguous microbatches -------------------*- C++ -*-===//

#ifndef MESHPLAN_DIALECT_PLAN_BATCH_RUNS_H
#define MESHPLAN_DIALECT_PLAN_BATCH_RUNS_H

#include "dialect/plan/plan.h"

namespace meshplan::plan {

/// True if a dim is divided over time first and then over other axes: a microbatch is a contiguous range of the dim.
inline bool isRunOfBatch(DimShardingAttr dim) { return dim.getAxes().size() > 1 && isTime(dim.getAxes().front()); }

/// The layout of the whole batch, of this extent, whose microbatches have the layout `run`: one part per microbatch,
/// each divided like `run`.
DimShardingAttr batchOfRuns(int64_t extent, DimShardingAttr run, MeshOp mesh);

} // namespace meshplan::plan

#endif // MESHPLAN_DIALECT_PLAN_BATCH_RUNS_H
