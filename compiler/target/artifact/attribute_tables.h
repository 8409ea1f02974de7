//===- attribute_tables.h - attributes as tables of the artifact *- C++ -*-===//

#ifndef MESHPLAN_COMPILER_TARGET_ARTIFACT_ATTRIBUTE_TABLES_H
#define MESHPLAN_COMPILER_TARGET_ARTIFACT_ATTRIBUTE_TABLES_H

#include "dialect/sched/sched.h"
#include "runtime/schema/schedule_generated.h"

namespace meshplan {

/// Axes and mesh axes.
std::vector<artifact::AxisRef> toAxisRefTable(llvm::ArrayRef<meshplan::AxisRef> axes);
std::vector<std::unique_ptr<artifact::AxisT>> toAxisTable(mlir::ArrayAttr meshAxes);

std::unique_ptr<artifact::InitT> toInit(base::InitAttr init);
std::unique_ptr<artifact::GuardT> toGuard(base::GuardAttr guard);
std::unique_ptr<artifact::RateScheduleT> toRateSchedule(base::RateScheduleAttr schedule);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_TARGET_ARTIFACT_ATTRIBUTE_TABLES_H
