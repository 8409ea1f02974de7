#include "runtime/schema/overlap.h"

#include <gmock/gmock.h>

using namespace meshplan;
using testing::ElementsAre;

TEST(OverlapTest, NeighbouringRanges) {
  // Elements 2..5 of one tensor and 4..8 of the other: 4 and 5 are in both.
  Overlap overlap = overlapOf({{{2, 4}}}, {{{4, 5}}});
  EXPECT_THAT(overlap.dims[0], ElementsAre(CommonRun{2, 0, 2}));
  EXPECT_EQ(overlap.elementCount(), 2);
}

TEST(OverlapTest, NothingInCommon) {
  Overlap overlap = overlapOf({{{0, 2}}, {{0, 3}}}, {{{2, 2}}, {{0, 3}}});
  EXPECT_EQ(overlap.elementCount(), 0);
  EXPECT_THAT(overlap.shape(), ElementsAre(0, 3));
}

TEST(OverlapTest, ScalarsHaveOneElement) { EXPECT_EQ(overlapOf({}, {}).elementCount(), 1); }

TEST(OverlapTest, PartsStayApart) {
  // A weight of parts 4 and 2: this shard holds 2..3 and 5, so the overlap with the whole is at 2, 3 and 5.
  Overlap overlap = overlapOf({{{2, 2}, {5, 1}}}, {{{0, 6}}});
  EXPECT_THAT(overlap.dims[0], ElementsAre(CommonRun{0, 2, 2}, CommonRun{2, 5, 1}));
  EXPECT_THAT(overlap.fromPiece().dims[0], ElementsAre(CommonRun{0, 2, 2}, CommonRun{2, 5, 1}));
  EXPECT_THAT(overlapOf({{{0, 6}}}, {{{2, 2}, {5, 1}}}).intoPiece().dims[0],
              ElementsAre(CommonRun{2, 0, 2}, CommonRun{5, 2, 1}));
}

TEST(OverlapTest, AdjacentRunsMelt) {
  Overlap overlap = overlapOf({{{0, 4}, {4, 2}}}, {{{0, 6}}});
  EXPECT_THAT(overlap.dims[0], ElementsAre(CommonRun{0, 0, 6}));
}

TEST(OverlapTest, InOrder) {
  std::vector<int64_t> shape = {4, 3};
  Overlap rows = overlapOf({{{0, 4}}, {{0, 3}}}, {{{2, 2}}, {{0, 3}}});
  EXPECT_TRUE(isInOrder(rows, &CommonRun::source, shape, 6));
  EXPECT_FALSE(isInOrder(rows, &CommonRun::source, shape, 0));
  Overlap columns = overlapOf({{{0, 4}}, {{0, 3}}}, {{{0, 4}}, {{1, 2}}});
  EXPECT_FALSE(isInOrder(columns, &CommonRun::source, shape, 1));
}

TEST(OverlapTest, InnerDimIsInOrderBelowDimsOfOneElement) {
  std::vector<int64_t> shape = {1, 6, 2};
  Overlap overlap = overlapOf({{{0, 1}}, {{4, 2}}, {{0, 2}}}, {{{0, 1}}, {{0, 6}}, {{0, 2}}});
  EXPECT_TRUE(isInOrder(overlap, &CommonRun::target, shape, 8));
  EXPECT_FALSE(isInOrder(overlap, &CommonRun::target, shape, 4));
}

TEST(OverlapTest, NoElementsAreInOrderEverywhere) {
  Overlap overlap = overlapOf({{{3, 0}}}, {{{0, 3}}});
  EXPECT_TRUE(isInOrder(overlap, &CommonRun::target, std::vector<int64_t>{3}, 2));
}
