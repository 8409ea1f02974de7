//===- distributions.h - distributions from uniform numbers -----*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_TRANSFORMS_IMPORT_RANDOM_DISTRIBUTIONS_H
#define MESHPLAN_COMPILER_TRANSFORMS_IMPORT_RANDOM_DISTRIBUTIONS_H

#include "dialect/plan/plan.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace meshplan {

/// True for calls that draw each element independently from a distribution other than the uniform one between 0 and 1:
/// normal, exponential, uniform between bounds, log-normal, Cauchy, geometric and integer numbers.
bool isDistribution(plan::CallOp call);

/// The result of such a call, created before it: each element is the inverse of the distribution function at one
/// uniform number between 0 and 1. `draw` creates these in an element type and in the shape of the result. Null, with
/// nothing created, if the call is not supported.
mlir::Value distribute(plan::CallOp call, llvm::function_ref<mlir::Value(mlir::Type element)> draw);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_TRANSFORMS_IMPORT_RANDOM_DISTRIBUTIONS_H
