//===- distributions.h - distributed numbers of even ones --------*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_TRANSFORMS_IMPORT_RANDOM_DISTRIBUTIONS_H
#define MESHPLAN_COMPILER_TRANSFORMS_IMPORT_RANDOM_DISTRIBUTIONS_H

#include "dialect/plan/plan.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace meshplan {

/// True for calls that draw each element for itself from a distribution other than evenly between 0 and 1: normal,
/// exponential, uniform between bounds, log-normal, Cauchy, geometric and integer numbers.
bool isDistribution(plan::CallOp call);

/// What such a call gives, made before it: each element by the inverse of the distribution function, of one even number
/// between 0 and 1. `draw` makes those, in an element type and the shape of the call's result. Null, with nothing made,
/// if the call's numbers cannot be made so.
mlir::Value distribute(plan::CallOp call, llvm::function_ref<mlir::Value(mlir::Type element)> draw);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_TRANSFORMS_IMPORT_RANDOM_DISTRIBUTIONS_H
