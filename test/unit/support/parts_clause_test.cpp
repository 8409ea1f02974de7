//===- parts_clause_test.cpp - parts of a dim as a plan says them ---------===//

#include "compiler/support/parts_clause.h"
#include "gtest/gtest.h"

using namespace meshplan;

TEST(PartsClause, IsInTheSmallestProportion) {
  EXPECT_EQ(partsClause({64, 64, 64}), "parts 3");
  EXPECT_EQ(partsClause({4096, 512, 512}), "parts (q 8, k 1, v 1)");
  EXPECT_EQ(partsClause({48, 32}), "parts (part0 3, part1 2)");
}
