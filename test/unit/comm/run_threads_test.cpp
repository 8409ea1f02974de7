//===- run_threads_test.cpp - what only the threads backend does ----------===//

#include "runtime/comm/threads/run_threads.h"

#include <atomic>
#include <gmock/gmock.h>
#include <map>
#include <mutex>
#include <thread>

namespace meshplan {
namespace {

TEST(RunThreads, ReturnsTheStatusOfEachRank) {
  std::vector<Status> statuses = runThreads(3, {}, [](World &world) {
    EXPECT_EQ(world.size(), 3);
    return world.rank() == 1 ? Status(StatusCode::invalid, "wrong") : Status();
  });
  ASSERT_EQ(statuses.size(), 3u);
  EXPECT_TRUE(statuses[0].ok());
  EXPECT_EQ(statuses[1].message(), "wrong");
}

TEST(RunThreads, ReportsRanksThatAreStuckAfterAFailure) {
  std::atomic<bool> released = false;
  std::vector<int64_t> stuck;
  std::string cause;
  RankOptions options{.timeout = std::chrono::milliseconds(50),
                      .onStuck = [&](const Status &failure, std::span<const int64_t> ranks) {
                        cause = failure.message();
                        stuck.assign(ranks.begin(), ranks.end());
                        released = true;
                      }};
  std::vector<Status> statuses = runThreads(4, options, [&](World &world) {
    while (world.rank() % 2 == 1 && !released)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return world.rank() == 0 ? Status(StatusCode::internal, "numeric fault") : Status();
  });
  EXPECT_EQ(cause, "numeric fault");
  EXPECT_THAT(stuck, testing::ElementsAre(1, 3));
  EXPECT_EQ(rootCause(statuses).message(), "numeric fault");
}

TEST(RunThreads, TellsOfEachFailureAtOnce) {
  std::mutex mutex;
  std::map<int64_t, std::string> told;
  RankOptions options;
  options.onFailure = [&](int64_t rank, const Status &failure) {
    std::unique_lock lock(mutex);
    told[rank] = failure.message();
  };
  runThreads(3, options, [](World &world) {
    return world.rank() == 1 ? Status() : Status(StatusCode::invalid, "wrong in " + std::to_string(world.rank()));
  });
  EXPECT_THAT(told, testing::ElementsAre(testing::Pair(0, "wrong in 0"), testing::Pair(2, "wrong in 2")));
}

TEST(RunThreads, SlowRanksOfAGoodRunAreNotStuck) {
  RankOptions options{.timeout = std::chrono::milliseconds(5),
                      .onStuck = [](const Status &, std::span<const int64_t>) { FAIL(); }};
  std::vector<Status> statuses = runThreads(2, options, [](World &world) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50 * world.rank()));
    return Status();
  });
  EXPECT_TRUE(rootCause(statuses).ok());
}

} // namespace
} // namespace meshplan
