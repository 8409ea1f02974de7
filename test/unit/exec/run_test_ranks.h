//===- run_test_ranks.h - ranks for tests of exec ---------------*- C++ -*-===//
//
// Some tests are compiled several times, for ranks that are threads, have a
// device each, meet at a store, or are processes.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_TEST_UNIT_EXEC_RUN_TEST_RANKS_H
#define MESHPLAN_TEST_UNIT_EXEC_RUN_TEST_RANKS_H

#include "runtime/comm/run_rank.h"

namespace meshplan {

/// The results of the ranks, in rank order. If ranks are processes, all of them call it.
std::vector<Status> runTestRanks(int64_t size, std::chrono::milliseconds timeout, const RankBody &body);

/// The path of a new file that all ranks of the next run write. `folder` is the caller's own.
std::string sharedFile(const std::string &folder);

} // namespace meshplan

#endif // MESHPLAN_TEST_UNIT_EXEC_RUN_TEST_RANKS_H
