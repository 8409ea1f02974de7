//===- describe_settings.h - the settings of a plan -------------*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_REPORT_SETTINGS_DESCRIBE_SETTINGS_H
#define MESHPLAN_COMPILER_REPORT_SETTINGS_DESCRIBE_SETTINGS_H

#include "compiler/frontend/bind.h"
#include "compiler/report/report.h"

namespace meshplan {

/// The settings of a plan, in the order of the language. Two plans of one model with equal settings and layouts train
/// identically. `sources` has the plan's file.
Settings describeSettings(const BoundPlan &plan, const ModelOutline &model, const Sources &sources);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_REPORT_SETTINGS_DESCRIBE_SETTINGS_H
