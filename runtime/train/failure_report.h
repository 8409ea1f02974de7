//===- failure_report.h - the report of a failed run ------------*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_TRAIN_FAILURE_REPORT_H
#define MESHPLAN_RUNTIME_TRAIN_FAILURE_REPORT_H

#include "runtime/comm/communicator.h"

namespace meshplan {

/// The file that writeCollectives writes for a rank.
std::string collectivesPath(const std::string &folder, int64_t rank);

/// Writes `folder`/collectives-rankN.json (the flight recorder): why the rank's run ended, and its last collectives
/// with step, location in the plan, size, start time and wait time. Replaces an existing file. `io` if it cannot be
/// written.
Status writeCollectives(World &world, const Status &failure, const std::string &folder);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_TRAIN_FAILURE_REPORT_H
