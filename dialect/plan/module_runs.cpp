//===- module_runs.cpp - the run of a module that an op belongs to --------===//

#include "dialect/plan/module_runs.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace meshplan;
using namespace meshplan::plan;

void plan::setModuleRuns(CallOp call, ArrayRef<std::pair<StringRef, int64_t>> runs) {
  Builder builder(call.getContext());
  NamedAttrList list;
  // Run 0 is not written: most modules run once, and every call would carry the attribute.
  for (auto [path, run] : runs)
    if (run != 0)
      list.set(path, builder.getI64IntegerAttr(run));
  if (!list.empty())
    call->setDiscardableAttr(attr::ModuleRuns::getNameStr(), list.getDictionary(call.getContext()));
}

int64_t plan::moduleRun(CallOp call, StringRef path) {
  auto runs = dyn_cast_or_null<DictionaryAttr>(call->getDiscardableAttr(attr::ModuleRuns::getNameStr()));
  auto run = runs ? runs.getAs<IntegerAttr>(path) : IntegerAttr();
  return run ? run.getInt() : 0;
}

bool ModuleRun::holds(Operation *op) const {
  auto call = dyn_cast_or_null<CallOp>(op);
  return call && call.isInModule(path) && moduleRun(call, path) == run;
}

void plan::copyModuleRuns(CallOp call, CallOp like) {
  if (Attribute runs = like->getDiscardableAttr(attr::ModuleRuns::getNameStr()))
    call->setDiscardableAttr(attr::ModuleRuns::getNameStr(), runs);
}
