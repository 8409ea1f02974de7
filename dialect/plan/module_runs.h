//===- module_runs.h - the run of a module that an op belongs to *- C++ -*-===//
//
// A model may call one module several times. The importer writes the index of
// the call (its run) into the attribute `plan.module_runs` of each plan.call: a
// list of #plan.module_run. A module that is not in it has run 0.
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

  /// True if the op is a call that belongs to this run. False for null.
  bool holds(mlir::Operation *op) const;
};

/// Records the runs of the modules that contain a call.
void setModuleRuns(CallOp call, llvm::ArrayRef<std::pair<llvm::StringRef, int64_t>> runs);

/// The run of the module at `path`, which contains the call.
int64_t moduleRun(CallOp call, llvm::StringRef path);

/// Copies the runs of `like` to `call`, which replaces it or is inserted beside it.
void copyModuleRuns(CallOp call, CallOp like);

} // namespace meshplan::plan

#endif // MESHPLAN_DIALECT_PLAN_MODULE_RUNS_H
