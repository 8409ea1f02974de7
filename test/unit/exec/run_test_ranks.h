//===- run_test_ranks.h - ranks for tests of exec ---------------*- C++ -*-===//
//
// Some tests are compiled twice, with the ranks as threads and with a device
// each.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_TEST_UNIT_EXEC_RUN_TEST_RANKS_H
#define MESHPLAN_TEST_UNIT_EXEC_RUN_TEST_RANKS_H

#include "runtime/comm/run_rank.h"

namespace meshplan {

std::vector<Status> runTestRanks(int64_t size, std::chrono::milliseconds timeout, const RankBody &body);

} // namespace meshplan

#endif // MESHPLAN_TEST_UNIT_EXEC_RUN_TEST_RANKS_H
