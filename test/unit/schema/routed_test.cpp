//===- routed_test.cpp - shapes of routed values on a rank ----------------===//

#include "runtime/schema/routed.h"

#include <gmock/gmock.h>
#include <limits>

using namespace meshplan;
using testing::ElementsAre;

TEST(Routed, ARankWithAllExpertsHasARowForEachSlotOfEachToken) {
  for (int64_t experts : {1, 3, 8, 60})
    for (int64_t tokens : {0, 1, 7, 4096})
      for (int64_t slots : {1, 2, 3})
        EXPECT_EQ(balancedRows(experts, experts, tokens, slots), tokens * slots);
}

TEST(Routed, BalancedRowsOfAllRanksAreThoseOfAllExpertsRoundedUp) {
  // 7 tokens with 2 slots are 14 pairs, 1.75 for each of 8 experts.
  EXPECT_EQ(balancedRows(1, 8, 7, 2), 2);
  EXPECT_EQ(balancedRows(2, 8, 7, 2), 4);
  EXPECT_EQ(balancedRows(3, 8, 7, 2), 6);
  EXPECT_EQ(balancedRows(4, 8, 7, 2), 7);
  EXPECT_EQ(balancedRows(0, 8, 7, 2), 0);
}

TEST(Routed, LargeNumbersDoNotOverflow) {
  int64_t tokens = int64_t(1) << 40;
  EXPECT_EQ(balancedRows(128, 256, tokens, 1 << 20), int64_t(1) << 59);
}

TEST(Routed, OneDimReplacesThoseOfExpertsAndTokens) {
  RoutedTokens eight{3, 2, 8, 0};
  EXPECT_THAT(routedShape(false, eight, std::vector<int64_t>{8, 2, 16, 64}), ElementsAre(64, 64));
  EXPECT_THAT(routedShape(false, eight, std::vector<int64_t>{2, 2, 16, 64, 3}), ElementsAre(16, 64, 3));
  EXPECT_THAT(routedShape(false, RoutedTokens{2, 1, 4, 0}, std::vector<int64_t>{4, 5}), ElementsAre(5));
  EXPECT_THAT(routedShape(true, eight, std::vector<int64_t>{4, 2, 16}), ElementsAre(4));
}

TEST(Routed, AReserveIsAFactorOfTheBalancedRowsUpToTheWorst) {
  // 32 tokens with 2 slots; a rank with 2 of 8 experts.
  RoutedTokens routed{3, 2, 8, 1.3};
  EXPECT_EQ(rowsOf(routed, 2, 32, RowLoad::balanced), 16);
  EXPECT_EQ(rowsOf(routed, 2, 32, RowLoad::reserved), 21);
  EXPECT_EQ(rowsOf(routed, 2, 32, RowLoad::worst), 64);
  routed.reserve = 100;
  EXPECT_EQ(rowsOf(routed, 2, 32, RowLoad::reserved), 64);
  routed.reserve = 0;
  EXPECT_EQ(rowsOf(routed, 2, 32, RowLoad::reserved), 16) << "no reserve";
}

TEST(Routed, ATokenHasOneRowOfEachOfTheExpertsOfARank) {
  RoutedTokens routed{2, 4, 8, 0};
  EXPECT_EQ(rowsOf(routed, 1, 10, RowLoad::worst), 10);
  EXPECT_EQ(rowsOf(routed, 8, 10, RowLoad::worst), 40);
}

TEST(Routed, ReservesAreNumbersOfAtLeastOne) {
  EXPECT_TRUE(isReserve(1));
  EXPECT_FALSE(isReserve(0.99));
  EXPECT_FALSE(isReserve(std::numeric_limits<double>::infinity()));
  EXPECT_FALSE(isReserve(std::numeric_limits<double>::quiet_NaN()));
}
