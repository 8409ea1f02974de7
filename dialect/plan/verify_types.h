//===- verify_types.h - shardings of the types of an op ---------*- C++ -*-===//

#ifndef MESHPLAN_DIALECT_PLAN_VERIFY_TYPES_H
#define MESHPLAN_DIALECT_PLAN_VERIFY_TYPES_H

#include "dialect/plan/plan.h"

namespace meshplan::plan {

/// Checks every sharded type of an op against the mesh. The verifiers of all ops of the dialect call it. Operands are
/// checked too, because arguments of a function have no other verifier.
mlir::LogicalResult verifyTypes(mlir::Operation *op);

} // namespace meshplan::plan

#endif // MESHPLAN_DIALECT_PLAN_VERIFY_TYPES_H
