//===- mpi_start_watch_test.cpp - a time-out for MPI's start-up -----------===//

#include "runtime/comm/mpi/start_watch.h"

#include <atomic>
#include <gtest/gtest.h>

using namespace meshplan;
using namespace std::chrono_literals;

namespace {

TEST(StartWatch, CallsOnceWhenTheTimeIsOver) {
  std::atomic<int> calls = 0;
  {
    StartWatch watch(1ms, [&] { ++calls; });
    auto end = std::chrono::steady_clock::now() + 20s;
    while (calls == 0 && std::chrono::steady_clock::now() < end)
      std::this_thread::sleep_for(1ms);
    std::this_thread::sleep_for(5ms);
  }
  EXPECT_EQ(calls, 1);
}

TEST(StartWatch, IsSilentIfItEndsBefore) {
  std::atomic<int> calls = 0;
  auto begin = std::chrono::steady_clock::now();
  {
    StartWatch watch(60s, [&] { ++calls; });
  }
  EXPECT_EQ(calls, 0);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 30s) << "its end does not wait for the time-out";
}

} // namespace
