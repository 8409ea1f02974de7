//===- group_spread_test.cpp - groups of ranks in nodes -------------------===//

#include "compiler/cluster/estimate.h"
#include "gtest/gtest.h"

#include <map>

using namespace meshplan;

namespace {

/// Brute force: the groups of all ranks, and the fewest members that any of them has in one node, if any crosses nodes.
int64_t fewestMembers(std::span<const AxisRef> axes, std::span<const int64_t> sizes, int64_t ranksPerNode) {
  int64_t world = 1;
  for (int64_t size : sizes)
    world *= size;
  int64_t fewest = 0, largest = 0;
  bool crosses = false;
  for (int64_t rank = 0; rank < world; ++rank) {
    std::vector<int64_t> coordinate(sizes.size());
    int64_t rest = rank;
    for (size_t axis = sizes.size(); axis-- > 0; rest /= sizes[axis])
      coordinate[axis] = rest % sizes[axis];
    std::map<int64_t, int64_t> members;
    for (int64_t member : groupOf(axes, sizes, coordinate))
      ++members[member / ranksPerNode];
    crosses |= members.size() > 1;
    for (auto [node, count] : members) {
      fewest = fewest == 0 ? count : std::min(fewest, count);
      largest = std::max(largest, count);
    }
  }
  return crosses ? fewest : largest;
}

TEST(GroupSpread, AgreesWithTheListedGroups) {
  const std::vector<int64_t> sizes{2, 6, 4};
  const std::vector<std::vector<AxisRef>> groups{{{2, 1, 4}},
                                                 {{1, 1, 6}},
                                                 {{0, 1, 2}},
                                                 {{1, 2, 3}},
                                                 {{1, 1, 2}},
                                                 {{2, 2, 2}},
                                                 {{0, 1, 2}, {2, 1, 4}},
                                                 {{1, 1, 3}, {2, 2, 2}},
                                                 {{0, 1, 2}, {1, 1, 6}, {2, 1, 4}}};
  for (int64_t ranksPerNode = 1; ranksPerNode <= 50; ++ranksPerNode)
    for (const std::vector<AxisRef> &axes : groups) {
      GroupSpread spread = groupSpread(axes, sizes, ranksPerNode);
      int64_t ranks = 1;
      for (const AxisRef &axis : axes)
        ranks *= axis.size;
      EXPECT_EQ(spread.ranks, ranks);
      EXPECT_EQ(spread.ranksInNode, fewestMembers(axes, sizes, ranksPerNode)) << ranksPerNode;
    }
}

TEST(GroupSpread, AGroupMayCrossNodesThoughItIsSmallerThanOne) {
  // Ranks 6, 7 and 8.
  GroupSpread spread = groupSpread(std::vector<AxisRef>{{1, 1, 3}}, std::vector<int64_t>{4, 3}, 8);
  EXPECT_TRUE(spread.crosses());
  EXPECT_EQ(spread.ranksInNode, 1);
}

TEST(GroupSpread, OneRank) {
  GroupSpread spread = groupSpread({}, std::vector<int64_t>{4}, 8);
  EXPECT_EQ(spread.ranks, 1);
  EXPECT_FALSE(spread.crosses());
}

} // namespace
