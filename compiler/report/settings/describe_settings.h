//===- describe_settings.h - what a plan says of a step ---------*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_REPORT_SETTINGS_DESCRIBE_SETTINGS_H
#define MESHPLAN_COMPILER_REPORT_SETTINGS_DESCRIBE_SETTINGS_H

#include "compiler/frontend/bind.h"
#include "compiler/report/report.h"

namespace meshplan {

/// In the order of a plan. Two plans of one model that give equal settings and layouts train alike. `sources` has the
/// plan's file.
Settings describeSettings(const BoundPlan &plan, const ModelOutline &model, const Sources &sources);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_REPORT_SETTINGS_DESCRIBE_SETTINGS_H
