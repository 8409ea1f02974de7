//===- deviation_test.cpp - error bounds ----------------------------------===//

#include "runtime/verify/deviation.h"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>
#include <numbers>

using namespace meshplan;

static constexpr double infinity = std::numeric_limits<double>::infinity();

TEST(DeviationTest, ThreeTimesTheOwnErrorOrAMillionthOfTheLargest) {
  EXPECT_DOUBLE_EQ(deviationOf({3, 3}, 1, 10, false).bound, 3);
  EXPECT_DOUBLE_EQ(deviationOf({3, 3}, 1, 1e7, false).bound, 10);
  EXPECT_DOUBLE_EQ(deviationOf({1.5, 1.5}, 1, 10, false).ratio(), 0.5);
  EXPECT_TRUE(deviationOf({3, 3}, 1, 10, false).isRight());
  EXPECT_FALSE(deviationOf({3.1, 0}, 1, 10, false).isRight()) << "rounding is not an excuse in 32 bits";
}

TEST(DeviationTest, SixteenBits) {
  EXPECT_DOUBLE_EQ(deviationOf({3, 3}, 1, 1e7, true).bound, 3) << "the magnitude does not count";
  EXPECT_TRUE(deviationOf({3, 3}, 1, 0, true).isRight());
  EXPECT_FALSE(deviationOf({3.1, 3.1}, 1, 0, true).isRight());
  EXPECT_DOUBLE_EQ(deviationOf({3.1, 0.5}, 1, 0, true).error, 0.5) << "the others are the exact ones, rounded once";
  EXPECT_DOUBLE_EQ(deviationOf({2.9, 0.5}, 1, 0, true).error, 2.9);
}

TEST(DeviationTest, WhatAnOptimizerKeepsInSixteenBits) {
  EXPECT_DOUBLE_EQ(deviationOf({3, 3}, 1, 1e7, true, /*isChanged=*/true).bound, 1.5);
  EXPECT_DOUBLE_EQ(deviationOf({3, 3}, 1, 1e7, false, /*isChanged=*/true).bound, 10);
}

/// The probability in deviation.h, by the midpoint rule with small steps.
TEST(DeviationTest, HowOftenARightErrorIsWrong) {
  double probability = 0, step = 1e-3;
  for (double x = step / 2; x < 12; x += step)
    probability += std::sqrt(2 / std::numbers::pi) * std::exp(-x * x / 2) * step *
                   std::pow(std::erf(x / mostOwnErrors / std::numbers::sqrt2), mostDraws);
  EXPECT_LT(probability, 6e-7);
  EXPECT_GT(probability, 5.8e-7);
}

TEST(DeviationTest, WhatHasNoRatio) {
  EXPECT_EQ(deviationOf({0, 0}, 0, 0, false).ratio(), 0) << "integers that are the same";
  EXPECT_EQ(deviationOf({1, 1}, 0, 0, false).ratio(), infinity) << "integers that are not";
  EXPECT_EQ(deviationOf({infinity, infinity}, 1, 1, false).ratio(), infinity);
  EXPECT_EQ(deviationOf({1, 1}, infinity, 1, false).ratio(), infinity) << "PyTorch has no number itself";
}
