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

func::FuncOp plan::programOf(ModuleOp module, base::ProgramRole role) {
  for (auto function : module.getOps<func::FuncOp>())
    if (roleOf(function) == role)
      return function;
  return {};
}
