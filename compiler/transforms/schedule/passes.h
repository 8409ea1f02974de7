//===- passes.h - passes of the phase `schedule` ----------------*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_TRANSFORMS_SCHEDULE_PASSES_H
#define MESHPLAN_COMPILER_TRANSFORMS_SCHEDULE_PASSES_H

#include "compiler/cluster/cluster.h"
#include "compiler/scheduling/algorithms.h"
#include "compiler/timing/step_times.h"
#include "dialect/sched/sched.h"
#include "mlir/Pass/Pass.h"

namespace meshplan {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "compiler/transforms/schedule/passes.h.inc"

/// The pass with the durations of `cluster`; if that is null, of the option `preset`. It appends the times of each
/// program that all ranks run to `times`, which must outlive it and may be null.
std::unique_ptr<mlir::Pass> createSchedule(std::shared_ptr<const Cluster> cluster, const ScheduleOptions &options,
                                           std::vector<ProgramTimes> *times = nullptr);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_TRANSFORMS_SCHEDULE_PASSES_H
