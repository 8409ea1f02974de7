//===- mesh_axes_test.cpp - digits of axes --------------------------------===//

#include "runtime/schema/mesh_axes.h"

#include <gtest/gtest.h>

using namespace meshplan;

TEST(WithoutDigit, TheDigitsBeforeAndAfterItAreLeft) {
  EXPECT_EQ(withoutDigit({0, 1, 8}, {0, 4, 2}), (AxisRemainder{{0, 1, 4}, {0, 8, 1}})) << "the minor end";
  EXPECT_EQ(withoutDigit({0, 1, 8}, {0, 2, 2}), (AxisRemainder{{0, 1, 2}, {0, 4, 2}})) << "the middle";
  EXPECT_EQ(withoutDigit({0, 1, 8}, {0, 1, 2}), (AxisRemainder{{0, 1, 1}, {0, 2, 4}})) << "the major end";
  EXPECT_EQ(withoutDigit({0, 2, 4}, {0, 4, 2}), (AxisRemainder{{0, 2, 2}, {0, 8, 1}})) << "of a digit";
  EXPECT_EQ(withoutDigit({0, 2, 4}, {0, 2, 4}), (AxisRemainder{{0, 2, 1}, {0, 8, 1}})) << "nothing is left";
  EXPECT_EQ(withoutDigit({0, 1, 8}, {1, 4, 2}), std::nullopt) << "another axis";
  EXPECT_EQ(withoutDigit({0, 4, 2}, {0, 1, 8}), std::nullopt) << "more than there is";
  EXPECT_EQ(withoutDigit({0, 2, 6}, {0, 3, 4}), std::nullopt) << "begins inside the digit";
  EXPECT_EQ(withoutDigit({0, 1, 6}, {0, 2, 2}), std::nullopt) << "ends inside the digit";
}
