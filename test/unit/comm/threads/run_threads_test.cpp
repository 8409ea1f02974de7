//===- run_threads_test.cpp - behaviour of the threads backend only -------===//

#include "runtime/comm/threads/run_threads.h"

#include <atomic>
#include <fstream>
#include <gmock/gmock.h>
#include <iostream>
#include <map>
#include <mutex>
#include <sys/resource.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

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

/// A barrier of more ranks than fit in memory: returns the root cause of the failures.
Status barrierWithoutRoom(int64_t ranks) {
  int64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  rlim_t room = static_cast<rlim_t>(pages * ::sysconf(_SC_PAGESIZE)) + (rlim_t(300) << 20);
  const rlimit limit{room, room};
  ::setrlimit(RLIMIT_AS, &limit);
  RankOptions options{.timeout = std::chrono::seconds(10),
                      .onStuck = [](const Status &, std::span<const int64_t>) { ::_exit(2); }};
  std::vector<Status> statuses = runThreads(ranks, options, [](World &world) -> Status {
    MESHPLAN_ASSIGN_OR_RETURN(auto group, world.createWorldGroup("world"));
    return waitFor(group->startBarrier());
  });
  return rootCause(statuses);
}

TEST(RunThreads, MoreRanksThanTheSystemHasThreads) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "the sanitizer ends the process where its own memory of a thread does not fit";
#endif
  // In a separate process, which may use 300 MiB more for stacks of 8 MiB each.
  pid_t child = ::fork();
  if (child == 0) {
    ::alarm(60);
    Status cause = barrierWithoutRoom(1000);
    bool right = testing::Matches(testing::MatchesRegex("only [0-9]+ of 1000 ranks could be started as threads of this "
                                                        "process: Resource temporarily unavailable; help: "
                                                        "start one process for each rank"))(cause.message());
    if (!right)
      std::cerr << cause.message() << std::endl;
    ::_exit(right ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status)) << "ended by signal " << WTERMSIG(status);
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

} // namespace
} // namespace meshplan
