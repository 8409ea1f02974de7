#include "runtime/tensor/device_marks.h"

#include <gtest/gtest.h>
#include <thread>

using namespace meshplan;

TEST(DeviceMarksTest, OnTheHostAreTheTimesOfTheCalls) {
  DeviceMarks marks;
  auto before = DeviceMarks::Clock::now();
  ASSERT_TRUE(marks.mark().ok());
  std::this_thread::sleep_for(std::chrono::milliseconds(2));
  ASSERT_TRUE(marks.mark().ok());
  auto times = marks.times();
  ASSERT_TRUE(times.ok());
  ASSERT_EQ(times->size(), 2U);
  EXPECT_GE((*times)[0], before);
  EXPECT_GE((*times)[1] - (*times)[0], std::chrono::milliseconds(2));
}

TEST(DeviceMarksTest, WithoutMarksThereAreNoTimes) {
  auto times = DeviceMarks().times();
  ASSERT_TRUE(times.ok());
  EXPECT_TRUE(times->empty());
}
