//===- run_in_processes.h - worlds whose ranks are processes ----*- C++ -*-===//

#ifndef MESHPLAN_TEST_CONFORMANCE_RUN_IN_PROCESSES_H
#define MESHPLAN_TEST_CONFORMANCE_RUN_IN_PROCESSES_H

#include "test/conformance/run_world.h"

namespace meshplan {

/// Runs the body in this process as a rank of a world of the first `ranks` processes; does nothing in the others.
using RunRank = std::function<Status(std::chrono::milliseconds timeout, const RankBody &body, int64_t ranks)>;

/// runWorld of a suite whose ranks are processes: all run every test, in step, and check what all ranks returned.
std::vector<Status> runInProcesses(const RunRank &run, int64_t processes, int64_t size,
                                   std::chrono::milliseconds timeout, const RankBody &body);

} // namespace meshplan

#endif // MESHPLAN_TEST_CONFORMANCE_RUN_IN_PROCESSES_H
