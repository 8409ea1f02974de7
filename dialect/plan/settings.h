//===- settings.h - numbers that a run supplies to a program ----*- C++ -*-===//

#ifndef MESHPLAN_DIALECT_PLAN_SETTINGS_H
#define MESHPLAN_DIALECT_PLAN_SETTINGS_H

#include "dialect/plan/plan.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

namespace meshplan::plan {

/// The argument of `function` for the setting `name`. If there is none, adds one after all other arguments: type f64,
/// rank 0, with the default `value` and the `schedule` for runs that supply no other. `isPlaced`: types of arguments
/// have shardings already.
mlir::BlockArgument settingArgument(mlir::FunctionOpInterface function, llvm::StringRef name, double value,
                                    bool isPlaced, mlir::Location location, base::RateScheduleAttr schedule = {});

} // namespace meshplan::plan

#endif // MESHPLAN_DIALECT_PLAN_SETTINGS_H
