//===- wide_products_test.cpp - what products of 16 bits hold -------------===//

#include "compiler/sharding/record_support/wide_products.h"
#include <gtest/gtest.h>

using namespace meshplan;

TEST(WideProducts, ASmallOperandIsConvertedWhole) {
  EXPECT_EQ(wideProductBytes(6, 12, 3), 4 * (6 + 12));
  EXPECT_EQ(wideProductBytes(6, 1 << 18, 3), 4 * (6 + (1 << 18)));
  EXPECT_EQ(wideProductBytes(0, 0, 0), 0);
}

TEST(WideProducts, ALargeOneInBlocksThatStayInACache) {
  EXPECT_EQ(wideProductBytes(6, 1 << 24, 1 << 10), 4 * (6 + (1 << 18)));
}

TEST(WideProducts, ABlockHasAFewColumnsHoweverLongTheyAre) {
  EXPECT_EQ(wideProductBytes(0, int64_t(1) << 30, 1 << 20), 4 * (int64_t(16) << 20));
}
