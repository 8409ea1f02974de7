//===- verify_types.h - shardings of the types of an op ---------*- C++ -*-===//

#ifndef MESHPLAN_DIALECT_PLAN_VERIFY_TYPES_H
#define MESHPLAN_DIALECT_PLAN_VERIFY_TYPES_H

#include "dialect/plan/plan.h"

namespace meshplan::plan {

/// Checks every sharded type of an op against the mesh. The verifiers of all ops of the dialect call it. Operands are
/// checked too, because arguments of a function have no other verifier.
mlir::LogicalResult verifyTypes(mlir::Operation *op);

/// Checks the axes that an op names: the mesh has them, and no digit of one is named twice.
mlir::LogicalResult verifyStatedAxes(mlir::Operation *op, mlir::ArrayAttr axes);

} // namespace meshplan::plan

#endif // MESHPLAN_DIALECT_PLAN_VERIFY_TYPES_H
