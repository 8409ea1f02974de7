//===- describe_peak.h - tensors that are live at the peak ------*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_TRANSFORMS_SCHEDULE_DESCRIBE_PEAK_H
#define MESHPLAN_COMPILER_TRANSFORMS_SCHEDULE_DESCRIBE_PEAK_H

#include "compiler/scheduling/solution.h"
#include "compiler/transforms/schedule/build_problem.h"
#include "dialect/sched/sched.h"

namespace meshplan {

/// The tensors that a rank of a class holds at the peak of a verified solution, by tensor and module.
sched::PeakAttr describePeak(mlir::func::FuncOp function, const ProjectedFunction &projection,
                             const scheduling::Solution &solution, unsigned rankClass);

/// The peak of another program in the timeline of `step`, including the tensors that `step` holds meanwhile and this
/// program does not.
sched::PeakAttr describeMicrobatchPeak(sched::ProgramOp sweep, sched::ProgramOp step);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_TRANSFORMS_SCHEDULE_DESCRIBE_PEAK_H
