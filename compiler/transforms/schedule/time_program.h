//===- time_program.h - the estimated times of a program --------*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_TRANSFORMS_SCHEDULE_TIME_PROGRAM_H
#define MESHPLAN_COMPILER_TRANSFORMS_SCHEDULE_TIME_PROGRAM_H

#include "compiler/scheduling/solution.h"
#include "compiler/timing/step_times.h"
#include "compiler/transforms/schedule/build_problem.h"

namespace meshplan {

/// Simulates a verified solution of a projected function, and names its operations: the times of its last instance, and
/// those of the instances before, if there are any and they leave something out (instances.h).
std::vector<ProgramTimes> timesOf(mlir::func::FuncOp function, const ProjectedFunction &projection,
                                  const scheduling::Solution &solution);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_TRANSFORMS_SCHEDULE_TIME_PROGRAM_H
