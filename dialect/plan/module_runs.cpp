//===- module_runs.cpp - the run of a module that an op belongs to --------===//

#include "dialect/plan/module_runs.h"
#include "dialect/plan/attributes.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace meshplan;
using namespace meshplan::plan;

void plan::setModuleRuns(CallOp call, ArrayRef<std::pair<StringRef, int64_t>> runs) {
  llvm::MapVector<StringRef, int64_t> known;
  for (auto [path, run] : runs)
    // Run 0 is not written: most modules run once, and every call would carry the attribute. Neither is that of a
    // module that calls a shared module, to which the call belongs, without containing it: no border of it is around
    // the call.
    if (run != 0 && call.isInModule(path))
      known[path] = run;
  SmallVector<Attribute> list;
  for (auto [path, run] : known)
    list.push_back(ModuleRunAttr::get(call.getContext(), path, run));
  if (!list.empty())
    setOpAttr<attr::ModuleRuns>(call, ArrayAttr::get(call.getContext(), list));
}

int64_t plan::moduleRun(CallOp call, StringRef path) {
  ArrayAttr runs = opAttr<attr::ModuleRuns>(call);
  if (!runs)
    return 0;
  for (auto run : runs.getAsRange<ModuleRunAttr>())
    if (run.getPath() == path)
      return run.getRun();
  return 0;
}

bool ModuleRun::holds(Operation *op) const {
  auto call = dyn_cast_or_null<CallOp>(op);
  return call && call.isInModule(path) && moduleRun(call, path) == run;
}

void plan::copyModuleRuns(CallOp call, CallOp like) {
  if (ArrayAttr runs = opAttr<attr::ModuleRuns>(like))
    setOpAttr<attr::ModuleRuns>(call, runs);
}
