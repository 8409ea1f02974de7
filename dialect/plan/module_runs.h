//===- module_runs.h - which call of a module an op belongs to --*- C++ -*-===//
//
// A model may call one module several times. The importer writes the number of
// the call (its run) into the attribute `plan.module_runs` of each plan.call, a
// dictionary from the paths of modules to numbers; what is not in it has run 0.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_DIALECT_PLAN_MODULE_RUNS_H
#define MESHPLAN_DIALECT_PLAN_MODULE_RUNS_H

#include "dialect/plan/plan.h"

namespace meshplan::plan {

/// One call of a module of the model.
struct ModuleRun {
  llvm::StringRef path;
  int64_t run = 0;

  /// True if the op is a call that belongs to it. False for null.
  bool holds(mlir::Operation *op) const;
};

/// Says to which runs of the modules around it a call belongs.
void setModuleRuns(CallOp call, llvm::ArrayRef<std::pair<llvm::StringRef, int64_t>> runs);

/// The run of the module at `path`, which holds the call.
int64_t moduleRun(CallOp call, llvm::StringRef path);

/// Puts `call` into the runs of `like`, which it replaces or stands beside.
void copyModuleRuns(CallOp call, CallOp like);

} // namespace meshplan::plan

#endif // MESHPLAN_DIALECT_PLAN_MODULE_RUNS_H
