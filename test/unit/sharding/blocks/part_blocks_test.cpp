//===- part_blocks_test.cpp - blocks of the parts of a dim ----------------===//

#include "compiler/sharding/blocks/part_blocks.h"
#include <gmock/gmock.h>
#include <numeric>

using namespace meshplan;
using testing::ElementsAre;
using testing::IsEmpty;

TEST(PartBlocks, ABlockOfBothIsWithinTheExtent) {
  EXPECT_EQ(joinBlocks(4, 6, 24), 12);
  EXPECT_EQ(joinBlocks(4, 6, 36), 12);
  EXPECT_EQ(joinBlocks(1, 8, 8), 8);
  EXPECT_EQ(joinBlocks(8, 12, 16), 16) << "24 does not divide it";
  EXPECT_EQ(joinBlocks(4, 4, 0), 1);
  for (int64_t extent = 1; extent <= 60; ++extent)
    for (int64_t left = 1; left <= extent; ++left)
      for (int64_t right = 1; right <= extent; ++right)
        if (extent % left == 0 && extent % right == 0) {
          EXPECT_EQ(joinBlocks(left, right, extent), std::lcm(left, right));
        }
}

TEST(PartBlocks, MergedPartsEndWhereEitherEnds) {
  const PartBlocks queriesAndRest = {{12, 6}, 8}, keysAndValues = {{12, 4}, {4, 2, 3}, {4, 2, 3}};
  const auto all = ElementsAre(DimPart(12, 12), DimPart(4, 2, 3), DimPart(4, 2, 3));
  EXPECT_THAT(mergeParts(queriesAndRest, keysAndValues), all);
  EXPECT_THAT(mergeParts(keysAndValues, queriesAndRest), all);
  EXPECT_THAT(mergeParts({{8, 2, 3}}, {4, 4}), ElementsAre(DimPart(4, 2), DimPart(4, 2)))
      << "who shares both is not known of each";
  EXPECT_THAT(mergeParts({6, 6}, {4, 8}), ElementsAre(DimPart(4), DimPart(2), DimPart(6)));
  EXPECT_THAT(mergeParts({{8, 4}}, {2, 6}), ElementsAre(DimPart(2, 2), DimPart(6, 6))) << "a block that is cut";
  EXPECT_THAT(mergeParts({}, {2, 6}), ElementsAre(DimPart(2), DimPart(6)));
  EXPECT_THAT(mergeParts({{2, 1, 4}}, {}), ElementsAre(DimPart(2, 1, 4)));
  EXPECT_THAT(mergeParts({}, {}), IsEmpty());
}

TEST(PartBlocks, MergingAgainChangesNothing) {
  const PartBlocks lists[] = {{{12, 6}, 8}, {{12, 4, 2}, {4, 2, 3}, {4, 2, 3}}, {{20, 5}}, {{2, 2, 7}, {18, 3, 2}}};
  for (const PartBlocks &left : lists)
    for (const PartBlocks &right : lists) {
      PartBlocks merged = mergeParts(left, right);
      EXPECT_EQ(mergeParts(merged, merged), merged);
      EXPECT_EQ(mergeParts(merged, right).size(), merged.size());
      PartBlocks again = mergeParts(merged, right);
      EXPECT_EQ(mergeParts(again, right), again) << "it comes to an end";
    }
}

TEST(PartBlocks, PartsOfARange) {
  const PartBlocks parts = {{12, 6}, {4, 2, 3}, 4};
  EXPECT_THAT(partsWithin(parts, 0, 12), ElementsAre(DimPart(12, 6)));
  EXPECT_THAT(partsWithin(parts, 12, 8), ElementsAre(DimPart(4, 2, 3), DimPart(4)));
  EXPECT_THAT(partsWithin(parts, 0, 20), ElementsAre(DimPart(12, 6), DimPart(4, 2, 3), DimPart(4)));
  EXPECT_THAT(partsWithin(parts, 0, 14), IsEmpty());
  EXPECT_THAT(partsWithin(parts, 2, 10), IsEmpty());
  EXPECT_THAT(partsWithin(parts, 12, 0), IsEmpty());
  EXPECT_THAT(partsWithin({}, 0, 4), IsEmpty());
}

TEST(PartBlocks, ScaledPartsAreThoseOfIndices) {
  EXPECT_THAT(scaledUp({{3, 1, 2}, {4, 2}}, 8), ElementsAre(DimPart(24, 8, 2), DimPart(32, 16)));
  EXPECT_THAT(scaledDown({{24, 8, 2}, {32, 16}}, 8), ElementsAre(DimPart(3, 1, 2), DimPart(4, 2)));
  EXPECT_THAT(scaledDown({{24, 4}, 32}, 8), ElementsAre(DimPart(3), DimPart(4))) << "an index is not cut";
  EXPECT_THAT(scaledDown({{24, 12}}, 8), ElementsAre(DimPart(3, 3))) << "half an index is in two blocks";
  EXPECT_THAT(scaledDown({24, 4}, 8), IsEmpty());
}

TEST(PartBlocks, ARangeAsOnePart) {
  const PartBlocks parts = {{12, 6}, {4, 2, 3}, {8, 4}};
  EXPECT_EQ(asOnePart(parts, 12, 4), DimPart(4, 2, 3));
  EXPECT_EQ(asOnePart(parts, 0, 12), DimPart(12, 6));
  EXPECT_EQ(asOnePart(parts, 16, 4), DimPart(4, 4)) << "half of a part";
  EXPECT_EQ(asOnePart(parts, 0, 6), DimPart(6, 6));
  EXPECT_EQ(asOnePart(parts, 12, 12).repeat, cannotShare) << "part of it is shared";
  EXPECT_EQ(asOnePart({{8, 4}, {4, 2}}, 0, 12), DimPart(12, 4));
  EXPECT_EQ(asOnePart({{8, 4}, {6, 3}}, 0, 14), DimPart(14, 14)) << "no block size of both divides it";
}
