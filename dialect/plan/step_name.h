//===- step_name.h - what a step of a program is called ---------*- C++ -*-===//

#ifndef MESHPLAN_DIALECT_PLAN_STEP_NAME_H
#define MESHPLAN_DIALECT_PLAN_STEP_NAME_H

#include "dialect/plan/plan.h"

namespace meshplan::plan {

/// "aten.mm.default", "all_gather", "slice": the name of a step in estimated timelines, which compare_traces.py holds
/// against those of runs, and in reports. A collective has the name of its kind: the artifact knows no other.
inline std::string stepName(mlir::Operation *op) {
  if (auto call = llvm::dyn_cast<CallOp>(op))
    return call.getTarget().str();
  if (std::optional<CollectiveKind> kind = collectiveKindOf(op))
    return stringifyCollectiveKind(*kind).str();
  return op->getName().stripDialect().str();
}

} // namespace meshplan::plan

#endif // MESHPLAN_DIALECT_PLAN_STEP_NAME_H
