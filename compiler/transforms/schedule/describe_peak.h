//===- describe_peak.h - tensors that are live at the peak ------*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_TRANSFORMS_SCHEDULE_DESCRIBE_PEAK_H
#define MESHPLAN_COMPILER_TRANSFORMS_SCHEDULE_DESCRIBE_PEAK_H

#include "compiler/scheduling/memory_profile.h"
#include "compiler/transforms/schedule/build_problem.h"
#include "dialect/sched/sched.h"

namespace meshplan {

/// The tensors that a rank holds at its peak, by tensor and module. `held` has indices of the projection's problem.
sched::PeakAttr describePeak(mlir::func::FuncOp function, const ProjectedFunction &projection,
                             const scheduling::HeldAtPeak &held);

/// The peak of another program in the timeline of `step`, including the tensors that `step` holds meanwhile and this
/// program does not.
sched::PeakAttr describeMicrobatchPeak(sched::ProgramOp sweep, sched::ProgramOp step);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_TRANSFORMS_SCHEDULE_DESCRIBE_PEAK_H
