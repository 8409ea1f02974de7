//===- settings.h - numbers that a run gives a program ----------*- C++ -*-===//

#ifndef MESHPLAN_DIALECT_PLAN_SETTINGS_H
#define MESHPLAN_DIALECT_PLAN_SETTINGS_H

#include "dialect/plan/plan.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

namespace meshplan::plan {

/// The argument of `function` that is the setting `name`. Where there is none, one of type f64 without dims is put
/// behind all others, with the number and the schedule that it has if the run gives no other. `isPlaced`: types of
/// arguments have shardings already.
mlir::BlockArgument settingArgument(mlir::FunctionOpInterface function, llvm::StringRef name, double value,
                                    bool isPlaced, mlir::Location location, base::RateScheduleAttr schedule = {});

} // namespace meshplan::plan

#endif // MESHPLAN_DIALECT_PLAN_SETTINGS_H
