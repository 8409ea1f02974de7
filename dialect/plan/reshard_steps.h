//===- reshard_steps.h - what the steps of a reshard share ------*- C++ -*-===//
//
// Attributes that several of the ops all_gather, reduce_scatter, all_reduce, all_to_all, permute and slice have, for
// code that handles them alike. Another op has none of them.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_DIALECT_PLAN_RESHARD_STEPS_H
#define MESHPLAN_DIALECT_PLAN_RESHARD_STEPS_H

#include "dialect/plan/plan.h"

namespace meshplan::plan {

/// The axes over which the step exchanges or selects, or null.
mlir::ArrayAttr stepAxes(mlir::Operation *step);

/// The dim along which the result of the step is divided or gathered, or null: a flat tensor, a whole one, a permute.
mlir::IntegerAttr stepDim(mlir::Operation *step);

/// The text of the statement that needs the step, or null.
mlir::StringAttr stepCause(mlir::Operation *step);

/// The number of the bucket with which a collective is coalesced, or null.
mlir::IntegerAttr bucketOf(mlir::Operation *step);
/// Precondition: an all_gather, reduce_scatter or all_reduce. So for `setBlocking`.
void setBucket(mlir::Operation *collective, mlir::IntegerAttr bucket);

/// True if the rank computes nothing while the collective runs.
bool isBlocking(mlir::Operation *step);
void setBlocking(mlir::Operation *collective);

} // namespace meshplan::plan

#endif // MESHPLAN_DIALECT_PLAN_RESHARD_STEPS_H
