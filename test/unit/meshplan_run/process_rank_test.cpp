//===- process_rank_test.cpp - one rank of several ------------------------===//

#include "tools/meshplan_run/ranks/process_rank.h"

#include "runtime/comm/threads/run_threads.h"

#include <gmock/gmock.h>

using namespace meshplan;

namespace {

/// Rank 0 of a run whose only process is this one.
class ProcessRankTest : public testing::Test {
protected:
  /// Returns the exit status, and captures stderr.
  int runAll(const ProcessCoordinates &place, const Command &command) {
    auto runner = [](const RankOptions &options, const RankBody &body) { return runThreads(1, options, body).front(); };
    testing::internal::CaptureStderr();
    int status = ProcessRank(place, std::chrono::seconds(60)).runAll(runner, command);
    errors = testing::internal::GetCapturedStderr();
    return status;
  }

  std::string errors;
};

} // namespace

TEST_F(ProcessRankTest, TheBodyRunsInTheWorldOfTheCommand) {
  int64_t seen = -1;
  EXPECT_EQ(runAll({.rank = 2, .size = 4, .localRank = 1, .localSize = 2},
                   [&](Ranks &ranks) {
                     EXPECT_EQ(ranks.localRank(2), 1);
                     return ranks.run(4, [&](World &world) {
                       seen = world.rank();
                       return Status();
                     });
                   }),
            0);
  EXPECT_EQ(seen, 0);
  EXPECT_EQ(errors, "");
}

TEST_F(ProcessRankTest, ThreadsAreThoseOfTheMachineForEachOfItsProcesses) {
  auto threads = [&](int64_t localSize) {
    int found = 0;
    runAll({.localRank = std::nullopt, .localSize = localSize}, [&](Ranks &ranks) {
      EXPECT_EQ(ranks.localRank(0), std::nullopt);
      found = ranks.computeThreads(1);
      EXPECT_EQ(ranks.computeThreads(64), found) << "ranks of other machines take none";
      return Status();
    });
    return found;
  };
  EXPECT_GE(threads(1), threads(2));
  EXPECT_EQ(threads(100'000), 1);
}

TEST_F(ProcessRankTest, AFailureIsPrintedOnceWithTheRankInFront) {
  EXPECT_EQ(runAll({.rank = 3, .size = 4, .localRank = {}},
                   [](Ranks &) { return Status(StatusCode::invalid, "no tensor 'x'"); }),
            1);
  EXPECT_EQ(errors, "meshplan-run: error: rank 3: no tensor 'x'\n");
}

TEST_F(ProcessRankTest, AsManyProcessesAsRanks) {
  bool called = false;
  EXPECT_EQ(runAll({.rank = 0, .size = 2, .localRank = {}},
                   [&](Ranks &ranks) {
                     return ranks.run(3, [&](World &) {
                       called = true;
                       return Status();
                     });
                   }),
            1);
  EXPECT_FALSE(called);
  EXPECT_THAT(errors, testing::StartsWith("meshplan-run: error: rank 0: the schedule is for 3 ranks, but 2 processes "
                                          "were started"));
}
