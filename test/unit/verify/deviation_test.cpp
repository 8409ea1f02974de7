//===- deviation_test.cpp - how wrong a tensor may be ---------------------===//

#include "runtime/verify/deviation.h"

#include <gtest/gtest.h>
#include <limits>

using namespace meshplan;

static constexpr double infinity = std::numeric_limits<double>::infinity();

TEST(DeviationTest, FourTimesTheOwnErrorOrAMillionthOfTheLargest) {
  EXPECT_DOUBLE_EQ(deviationOf({3, 3}, 1, 10, false).bound, 4);
  EXPECT_DOUBLE_EQ(deviationOf({3, 3}, 1, 1e7, false).bound, 10);
  EXPECT_DOUBLE_EQ(deviationOf({3, 3}, 1, 10, false).ratio(), 0.75);
  EXPECT_TRUE(deviationOf({4, 4}, 1, 10, false).isRight());
  EXPECT_FALSE(deviationOf({4.1, 0}, 1, 10, false).isRight()) << "rounding is no excuse in 32 bits";
}

TEST(DeviationTest, SixteenBits) {
  EXPECT_DOUBLE_EQ(deviationOf({3, 3}, 1, 1e7, true).bound, 1.5) << "the magnitude does not count";
  EXPECT_TRUE(deviationOf({1.5, 1.5}, 1, 0, true).isRight());
  EXPECT_FALSE(deviationOf({1.6, 1.6}, 1, 0, true).isRight());
  EXPECT_DOUBLE_EQ(deviationOf({1.6, 0.5}, 1, 0, true).error, 0.5) << "the others are the exact ones, rounded once";
  EXPECT_DOUBLE_EQ(deviationOf({1.4, 0.5}, 1, 0, true).error, 1.4);
}

TEST(DeviationTest, WhatHasNoRatio) {
  EXPECT_EQ(deviationOf({0, 0}, 0, 0, false).ratio(), 0) << "integers that are the same";
  EXPECT_EQ(deviationOf({1, 1}, 0, 0, false).ratio(), infinity) << "integers that are not";
  EXPECT_EQ(deviationOf({infinity, infinity}, 1, 1, false).ratio(), infinity);
  EXPECT_EQ(deviationOf({1, 1}, infinity, 1, false).ratio(), infinity) << "PyTorch has no number itself";
}
