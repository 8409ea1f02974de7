//===- failure_report.h - what a run leaves that ends badly ------*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_TRAIN_FAILURE_REPORT_H
#define MESHPLAN_RUNTIME_TRAIN_FAILURE_REPORT_H

#include "runtime/comm/communicator.h"

namespace meshplan {

/// The file that writeCollectives makes for a rank.
std::string collectivesPath(const std::string &folder, int64_t rank);

/// Writes `folder`/collectives-rankN.json: why the rank's run ended, and the last collectives that the rank has
/// started, with step, place in the plan, bytes, when each was started and how long the rank waited. A file that is
/// there is written over. `io` when it cannot be written.
Status writeCollectives(World &world, const Status &failure, const std::string &folder);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_TRAIN_FAILURE_REPORT_H
