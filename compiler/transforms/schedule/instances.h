//===- instances.h - what every microbatch runs -----------------*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_TRANSFORMS_SCHEDULE_INSTANCES_H
#define MESHPLAN_COMPILER_TRANSFORMS_SCHEDULE_INSTANCES_H

#include "compiler/scheduling/solution.h"
#include "compiler/transforms/schedule/build_problem.h"
#include "llvm/ADT/BitVector.h"

namespace meshplan {

/// The operations that every instance of a program runs; the others run in the last one. In a step of several
/// microbatches these are the operations on which the next value of an accumulator depends. In a program that runs
/// once, and in one of the role `microbatch`, these are all.
///
/// Example: a step of 4 microbatches adds to the accumulator of each gradient. The forward and the backward pass are
/// needed for it, in every instance. The reduction of the sums, the norm for clipping and the optimizer read the sums
/// and no accumulator depends on them: they run in the fourth.
llvm::BitVector operationsOfEveryInstance(mlir::func::FuncOp function, const ProjectedFunction &projection);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_TRANSFORMS_SCHEDULE_INSTANCES_H
