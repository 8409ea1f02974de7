//===- programs.h - the programs of a module --------------------*- C++ -*-===//
//
// A module has one function for each program. What a run uses it for is its
// role, the attribute `plan.role`; names are for people.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_DIALECT_PLAN_PROGRAMS_H
#define MESHPLAN_DIALECT_PLAN_PROGRAMS_H

#include "dialect/plan/plan.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace meshplan::plan {

/// The role of a function; `forward` where nothing says so.
base::ProgramRole roleOf(mlir::func::FuncOp function);

/// Gives a function another role.
void setRole(mlir::func::FuncOp function, base::ProgramRole role);

/// How often a step or an evaluation runs the function: by the timeline that it is in, or once.
int64_t instancesOf(mlir::func::FuncOp function);

/// The first function of a role, or null. Functions of modules inside `module` do not count.
mlir::func::FuncOp programOf(mlir::ModuleOp module, base::ProgramRole role);

} // namespace meshplan::plan

#endif // MESHPLAN_DIALECT_PLAN_PROGRAMS_H
