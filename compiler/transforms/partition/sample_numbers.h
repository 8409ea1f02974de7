//===- sample_numbers.h - positions of samples in microbatches --*- C++ -*-===//
//
// Some calls count samples: arange over the batch, or random numbers by position. In a program of one microbatch they
// begin where the microbatch does.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_COMPILER_TRANSFORMS_PARTITION_SAMPLE_NUMBERS_H
#define MESHPLAN_COMPILER_TRANSFORMS_PARTITION_SAMPLE_NUMBERS_H

#include "dialect/plan/plan.h"
#include <optional>

namespace meshplan {

/// Makes integers of the call that depend on the positions of samples those of one of `count` microbatches. Its types
/// still have the axis of time. Returns the op that makes its result now, the same or a slice after it; nullopt, and
/// changes nothing, if that is not possible.
std::optional<mlir::Operation *> numberSamples(plan::CallOp call, plan::MeshOp mesh, int64_t count);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_TRANSFORMS_PARTITION_SAMPLE_NUMBERS_H
