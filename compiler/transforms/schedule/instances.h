//===- instances.h - what every microbatch runs -----------------*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_TRANSFORMS_SCHEDULE_INSTANCES_H
#define MESHPLAN_COMPILER_TRANSFORMS_SCHEDULE_INSTANCES_H

#include "compiler/scheduling/unroll.h"
#include "compiler/transforms/schedule/build_problem.h"

namespace meshplan {

/// Which instances of a program run each operation. In a program that runs once, and in one of the role `microbatch`,
/// each instance runs all. In a step of several microbatches all run the operations on which the next value of an
/// accumulator depends, and the last one the others. Of the former, the first one runs for all what the plan gathers
/// once in a step (`plan.once`), and what only these gathers read.
///
/// Example: a step of 4 microbatches adds to the accumulator of each gradient. The forward and the backward pass are
/// needed for it, in every instance. The reduction of the sums, the norm for clipping and the optimizer read the sums
/// and no accumulator depends on them: they run in the fourth. If a rank stores its shards of the parameters, the first
/// microbatch gathers the parameters of which the optimizer has computed the new values in the step before.
scheduling::OccurrenceTable occurrencesIn(mlir::func::FuncOp function, const ProjectedFunction &projection);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_TRANSFORMS_SCHEDULE_INSTANCES_H
