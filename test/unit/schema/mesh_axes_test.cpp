//===- mesh_axes_test.cpp - digits of axes --------------------------------===//

#include "runtime/schema/mesh_axes.h"

#include <gtest/gtest.h>

using namespace meshplan;

TEST(WithoutMinor, OnlyDigitsAtTheMinorEndAreRemoved) {
  EXPECT_EQ(withoutMinor({0, 1, 8}, {0, 4, 2}), (AxisRef{0, 1, 4}));
  EXPECT_EQ(withoutMinor({0, 2, 4}, {0, 4, 2}), (AxisRef{0, 2, 2}));
  EXPECT_EQ(withoutMinor({0, 2, 4}, {0, 2, 4}), (AxisRef{0, 2, 1})) << "nothing is left";
  EXPECT_EQ(withoutMinor({0, 1, 8}, {1, 4, 2}), std::nullopt) << "another axis";
  EXPECT_EQ(withoutMinor({0, 1, 8}, {0, 2, 2}), std::nullopt) << "in the middle";
  EXPECT_EQ(withoutMinor({0, 4, 2}, {0, 1, 8}), std::nullopt) << "more than there is";
  EXPECT_EQ(withoutMinor({0, 2, 6}, {0, 3, 4}), std::nullopt) << "begins inside the digit";
}
