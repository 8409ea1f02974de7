//===- time_program.h - the estimated times of a program --------*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_TRANSFORMS_SCHEDULE_TIME_PROGRAM_H
#define MESHPLAN_COMPILER_TRANSFORMS_SCHEDULE_TIME_PROGRAM_H

#include "compiler/scheduling/unroll.h"
#include "compiler/timing/step_times.h"
#include "compiler/transforms/schedule/build_problem.h"

namespace meshplan {

/// Names the operations of the kinds of instances that scheduling::simulate(instances) has timed, in their order.
std::vector<ProgramTimes> timesOf(mlir::func::FuncOp function, const ProjectedFunction &projection,
                                  const scheduling::Instances &instances,
                                  llvm::ArrayRef<scheduling::InstanceTimes> times);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_TRANSFORMS_SCHEDULE_TIME_PROGRAM_H
