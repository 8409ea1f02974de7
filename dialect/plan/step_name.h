//===- step_name.h - name and module of a step of a program -----*- C++ -*-===//

#ifndef MESHPLAN_DIALECT_PLAN_STEP_NAME_H
#define MESHPLAN_DIALECT_PLAN_STEP_NAME_H

#include "dialect/plan/plan.h"

namespace meshplan::plan {

/// The path of the module that a step belongs to. Null for a call of no module and for any other op.
inline mlir::StringAttr stepModule(mlir::Operation *op) {
  auto call = llvm::dyn_cast_if_present<CallOp>(op);
  return call ? call.getModuleAttr() : mlir::StringAttr();
}

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
