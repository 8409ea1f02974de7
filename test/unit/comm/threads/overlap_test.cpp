//===- overlap_test.cpp - data moves while the ranks compute --------------===//

#include "runtime/comm/threads/run_threads.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <ctime>
#include <filesystem>
#include <gmock/gmock.h>
#include <thread>

using namespace meshplan;

namespace {

using Clock = std::chrono::steady_clock;

constexpr int64_t count = 4'000'000; // 16 MB: a movement of milliseconds

double secondsSince(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

double median(std::vector<double> values) {
  std::ranges::nth_element(values, values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2));
  return values[values.size() / 2];
}

void sleepFor(double seconds) { std::this_thread::sleep_for(std::chrono::duration<double>(seconds)); }

/// Takes this time of a core, so that progress threads get a core for a comparable time also on a busy machine.
void computeFor(double seconds) {
  auto used = [] {
    timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
  };
  volatile double value = 1;
  for (double begin = used(); used() - begin < seconds;)
    for (int i = 0; i < 1000; ++i)
      value = std::sqrt(value + i);
}

struct Times {
  double alone; ///< of start and wait, without anything between
  double wait;  ///< of the wait, with something between
};

/// Medians on rank 0 of all-reduces, of which every second has `between` between start and wait.
Times timesOf(int64_t ranks, const std::function<void()> &between) {
  std::vector<double> alone, waits;
  std::vector<Status> statuses = runThreads(ranks, {}, [&](World &world) -> Status {
    MESHPLAN_ASSIGN_OR_RETURN(auto group, world.createWorldGroup("tp"));
    std::vector<float> input(count, 1), output(count);
    for (int repeat = 0; repeat < 10; ++repeat) {
      MESHPLAN_RETURN_IF_ERROR(waitFor(group->startBarrier()));
      Clock::time_point begin = Clock::now();
      MESHPLAN_ASSIGN_OR_RETURN(Pending sum,
                                group->startAllReduce(input.data(), output.data(), count, DType::f32, Reduction::sum));
      if (repeat % 2) {
        between();
        begin = Clock::now();
      }
      MESHPLAN_RETURN_IF_ERROR(sum->wait());
      if (world.rank() == 0)
        (repeat % 2 ? waits : alone).push_back(secondsSince(begin));
      EXPECT_EQ(output.back(), static_cast<float>(ranks));
    }
    return Status();
  });
  EXPECT_TRUE(rootCause(statuses).ok()) << rootCause(statuses).message();
  return {median(alone), median(waits)};
}

/// Expects that hardly anything is left to wait for after some time. Tries longer times, because this process may get
/// little of a busy machine.
void expectOverlap(int64_t ranks, void (*spend)(double seconds)) {
  Times times = {};
  for (double seconds = 0.02; seconds < 3; seconds *= 4) {
    times = timesOf(ranks, [&] { spend(seconds); });
    if (times.wait < times.alone / 10)
      return;
  }
  ADD_FAILURE() << ranks << " ranks: a wait takes " << times.wait << " s after, and " << times.alone
                << " s directly after the start";
}

} // namespace

TEST(Overlap, OfSleepingRanks) {
  expectOverlap(2, sleepFor);
  expectOverlap(6, sleepFor);
}

TEST(Overlap, OfComputingRanks) {
  expectOverlap(2, computeFor);
  expectOverlap(6, computeFor);
}

TEST(Overlap, TheIntervalIsFromTheLastArrivalToTheEnd) {
  std::vector<Status> statuses = runThreads(2, {}, [&](World &world) -> Status {
    MESHPLAN_ASSIGN_OR_RETURN(auto group, world.createWorldGroup("tp"));
    std::vector<float> input(count, 1), output(count);
    MESHPLAN_RETURN_IF_ERROR(waitFor(group->startBarrier()));
    Clock::time_point begin = Clock::now();
    if (world.rank() == 1)
      sleepFor(0.05);
    MESHPLAN_ASSIGN_OR_RETURN(Pending sum,
                              group->startAllReduce(input.data(), output.data(), count, DType::f32, Reduction::sum));
    EXPECT_FALSE(sum->interval()) << "before the wait";
    MESHPLAN_RETURN_IF_ERROR(sum->wait());
    std::optional<MoveInterval> moved = sum->interval();
    EXPECT_TRUE(moved);
    if (moved) {
      EXPECT_GE(std::chrono::duration<double>(moved->begin - begin).count(), world.rank() == 0 ? 0.04 : 0);
      EXPECT_LE(moved->begin, moved->end);
      EXPECT_LE(moved->end, Clock::now());
    }
    return Status();
  });
  for (const Status &status : statuses)
    EXPECT_TRUE(status.ok()) << status.message();
}

TEST(Overlap, AWaitNeedsNoProgressThread) {
  std::atomic<bool> released = false;
  RankOptions options;
  options.beforeProgress = [&] {
    while (!released)
      sleepFor(0.001);
  };
  std::vector<Status> statuses = runThreads(2, options, [&](World &world) -> Status {
    MESHPLAN_ASSIGN_OR_RETURN(auto tp, world.createWorldGroup("tp"));
    MESHPLAN_ASSIGN_OR_RETURN(auto dp, world.createWorldGroup("dp"));
    std::vector<float> input(count, 1), first(count), second(count);
    MESHPLAN_ASSIGN_OR_RETURN(Pending one,
                              tp->startAllReduce(input.data(), first.data(), count, DType::f32, Reduction::sum));
    MESHPLAN_ASSIGN_OR_RETURN(Pending two,
                              dp->startAllReduce(input.data(), second.data(), count, DType::f32, Reduction::sum));
    Status waited = two->wait();
    if (waited.ok())
      waited = one->wait();
    released = true;
    EXPECT_EQ(first.back(), 2);
    EXPECT_EQ(second.back(), 2);
    return waited;
  });
  EXPECT_TRUE(rootCause(statuses).ok()) << rootCause(statuses).message();
}

static int64_t threadsOfProcess() {
  std::filesystem::directory_iterator tasks("/proc/self/task");
  return std::distance(begin(tasks), end(tasks));
}

TEST(Overlap, NoThreadIsLeftAfterTheRun) {
  // A sanitizer may start a thread of its own together with the first.
  runThreads(1, {}, [](World &) { return Status(); });
  int64_t before = threadsOfProcess();
  std::atomic<int64_t> during = 0;
  for (bool fails : {false, true})
    runThreads(4, {}, [&](World &world) -> Status {
      MESHPLAN_ASSIGN_OR_RETURN(auto group, world.createWorldGroup("tp"));
      MESHPLAN_RETURN_IF_ERROR(waitFor(group->startBarrier()));
      if (world.rank() == 0)
        during = threadsOfProcess();
      MESHPLAN_RETURN_IF_ERROR(waitFor(group->startBarrier()));
      return fails ? Status(StatusCode::internal, "numeric fault") : Status();
    });
  EXPECT_GT(during, before + 4);
  EXPECT_LE(during, before + 8) << "a progress thread for each rank at most";
  EXPECT_EQ(threadsOfProcess(), before);
}
