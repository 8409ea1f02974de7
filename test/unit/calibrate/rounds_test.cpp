//===- rounds_test.cpp - repeated measurements on all ranks ---------------===//

#include "runtime/calibrate/rounds.h"

#include "runtime/comm/threads/run_threads.h"

#include <atomic>
#include <gmock/gmock.h>
#include <thread>

using namespace meshplan;

namespace {

Case sleepFor(std::chrono::microseconds time, std::atomic<int> &count) {
  return {{}, 1, {}, [time, &count] {
            std::this_thread::sleep_for(time);
            ++count;
            return Status();
          }};
}

TEST(MeasureCases, TakesAsLongAsTheWorkDoes) {
  std::atomic<int> slow = 0, fast = 0;
  std::vector<Measurement> measurements;
  std::vector<Status> statuses = runThreads(2, {}, [&](World &world) -> Status {
    std::vector<Case> cases{sleepFor(std::chrono::milliseconds(20), slow),
                            sleepFor(std::chrono::microseconds(100), fast)};
    MESHPLAN_ASSIGN_OR_RETURN(std::vector<Measurement> own, measureCases(world, cases, 0.1));
    if (world.rank() == 0)
      measurements = own;
    else
      EXPECT_TRUE(own.empty());
    return Status();
  });
  ASSERT_TRUE(rootCause(statuses).ok()) << rootCause(statuses).message();
  ASSERT_EQ(measurements.size(), 2u);
  // A sleep is never shorter than asked for; how much longer it is depends on the machine.
  EXPECT_GE(measurements[0].seconds, 0.020);
  EXPECT_GE(measurements[1].seconds, 100e-6);
  EXPECT_LT(measurements[1].seconds, measurements[0].seconds);
  EXPECT_GE(measurements[0].spread, 0);
  EXPECT_GT(fast, slow) << "short cases are repeated in each round";
}

TEST(MeasureCases, AFailureEndsAllRanks) {
  std::vector<Status> statuses = runThreads(2, {}, [&](World &world) -> Status {
    std::vector<Case> cases{
        {{}, 1, {}, [&] { return world.rank() == 1 ? Status(StatusCode::invalid, "no such operator") : Status(); }}};
    return measureCases(world, cases, 0.1).status();
  });
  EXPECT_EQ(rootCause(statuses).message(), "no such operator");
}

} // namespace
