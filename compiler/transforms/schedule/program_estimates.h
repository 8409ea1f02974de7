//===- program_estimates.h - memory and time of a program -------*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_TRANSFORMS_SCHEDULE_PROGRAM_ESTIMATES_H
#define MESHPLAN_COMPILER_TRANSFORMS_SCHEDULE_PROGRAM_ESTIMATES_H

#include "compiler/scheduling/unroll.h"
#include "compiler/transforms/schedule/build_problem.h"
#include "dialect/sched/sched.h"

namespace meshplan {

/// The resources that a sched.program states. Computed from the solution that is written: what is reported is what is
/// executed.
struct ProgramEstimates {
  sched::MemoryAttr memory; ///< of all instances together
  sched::TimeAttr time;     ///< the sum over all instances
  sched::PeakAttr peak;     ///< what is held at the peak; null for the reference
};

/// The largest peak of device memory of all instances together.
int64_t peakOf(const scheduling::Instances &instances);

/// The estimates of a verified solution. `times` are those of scheduling::simulate(instances).
ProgramEstimates estimatesOf(mlir::func::FuncOp function, const ProjectedFunction &projection,
                             const scheduling::Instances &instances, llvm::ArrayRef<scheduling::InstanceTimes> times);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_TRANSFORMS_SCHEDULE_PROGRAM_ESTIMATES_H
