//===- number_text_test.cpp - numbers and times in messages ---------------===//

#include "compiler/support/number_text.h"
#include "compiler/support/time_text.h"

#include <cstdlib>
#include <gtest/gtest.h>

using namespace meshplan;

namespace {

TEST(NumberText, IsTheShortestThatParsesToTheNumber) {
  EXPECT_EQ(numberText(0), "0");
  EXPECT_EQ(numberText(0.1), "0.1");
  EXPECT_EQ(numberText(1e-5), "1e-05");
  EXPECT_EQ(numberText(1234567), "1234567") << "six digits are too few";
  for (double number : {1.0 / 3, 0.1 + 0.2, 1e300 / 7, -2.5e-7})
    EXPECT_EQ(std::strtod(numberText(number).c_str(), nullptr), number);
}

TEST(TimeText, RoundsToTheNextUnit) {
  EXPECT_EQ(timeText(0), "0 ns");
  EXPECT_EQ(timeText(999), "999 ns");
  EXPECT_EQ(timeText(1000), "1.0 us");
  EXPECT_EQ(timeText(999'949), "999.9 us");
  EXPECT_EQ(timeText(999'951), "1.0 ms");
  EXPECT_EQ(timeText(int64_t(7200) * 1'000'000'000), "7200.0 s") << "there is no larger one";
}

} // namespace
