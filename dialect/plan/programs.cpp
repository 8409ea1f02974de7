//===- programs.cpp - the programs of a module ----------------------------===//

#include "dialect/plan/programs.h"
#include "dialect/plan/attributes.h"

using namespace mlir;
using namespace meshplan;

base::ProgramRole plan::roleOf(func::FuncOp function) {
  base::ProgramRoleAttr role = opAttr<attr::Role>(function);
  return role ? role.getValue() : base::ProgramRole::forward;
}

void plan::setRole(func::FuncOp function, base::ProgramRole role) {
  setOpAttr<attr::Role>(function, base::ProgramRoleAttr::get(function.getContext(), role));
}

int64_t plan::instancesOf(func::FuncOp function) {
  for (auto runner : function->getParentOfType<ModuleOp>().getOps<func::FuncOp>())
    if (int64_t count = base::instancesIn(opAttr<attr::Timeline>(runner), function.getSymName()))
      return count;
  return 1;
}

func::FuncOp plan::programOf(ModuleOp module, base::ProgramRole role) {
  for (auto function : module.getOps<func::FuncOp>())
    if (roleOf(function) == role)
      return function;
  return {};
}
