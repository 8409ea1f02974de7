//===- extent_test.cpp - properties of the extent function ----------------===//

#include "runtime/schema/extent.h"

#include <gmock/gmock.h>
#include <map>
#include <random>
#include <set>

namespace meshplan {
namespace {

using testing::ElementsAre;

/// Elements of a dim in shard `index`, in local order.
std::vector<int64_t> elementsOf(const DimSharding &dim, int64_t index) {
  std::vector<int64_t> elements;
  for (const Range &range : shardRanges(dim, index))
    for (int64_t i = 0; i < range.size; ++i)
      elements.push_back(range.offset + i);
  return elements;
}

TEST(ShardRange, CoversInOrderWithoutOverlap) {
  for (int64_t unit : {1, 3, 64})
    for (int64_t units = 0; units <= 20; ++units)
      for (int64_t count = 1; count <= 9; ++count) {
        int64_t next = 0;
        for (int64_t index = 0; index < count; ++index) {
          Range range = shardRange(units * unit, unit, count, index);
          EXPECT_EQ(range.offset, next);
          next += range.size;
        }
        EXPECT_EQ(next, units * unit);
      }
}

TEST(ShardRange, EachUnitHasOneFirstHolder) {
  for (int64_t units : {1, 2, 3, 8})
    for (int64_t repeat : {1, 2, 3, 5})
      for (int64_t count = 1; count <= units * repeat; ++count) {
        int64_t next = 0;
        for (int64_t index = 0; index < count; ++index) {
          Range held = shardRange(units * 4, 4, count, index, repeat);
          Range first = firstHeldRange(units * 4, 4, count, index, repeat);
          EXPECT_EQ(first.offset, next);
          next += first.size;
          EXPECT_TRUE(first.size == 0 || first.offset >= held.offset);
          EXPECT_TRUE(first.size == 0 || first.offset + first.size == held.offset + held.size);
        }
        EXPECT_EQ(next, units * 4);
      }
}

TEST(ShardRange, SizesDifferByOneUnitAndTheFirstIsAmongTheLargest) {
  for (int64_t units = 0; units <= 20; ++units)
    for (int64_t count = 1; count <= 9; ++count)
      for (int64_t index = 0; index < count; ++index) {
        int64_t size = shardRange(units * 4, 4, count, index).size;
        EXPECT_EQ(size % 4, 0) << "a unit is cut";
        EXPECT_GE(size / 4, units / count);
        EXPECT_LE(size / 4, (units + count - 1) / count);
        EXPECT_LE(size, shardRange(units * 4, 4, count, 0).size);
      }
}

TEST(ShardRange, ShardsOfACoarserDivisionAreUnionsOfThoseOfAFinerOne) {
  for (int64_t units = 0; units <= 20; ++units)
    for (int64_t major = 1; major <= 5; ++major)
      for (int64_t minor = 1; minor <= 5; ++minor)
        for (int64_t index = 0; index < major; ++index) {
          Range coarse = shardRange(units * 3, 3, major, index);
          Range first = shardRange(units * 3, 3, major * minor, index * minor);
          Range last = shardRange(units * 3, 3, major * minor, index * minor + minor - 1);
          EXPECT_EQ(first.offset, coarse.offset);
          EXPECT_EQ(last.offset + last.size, coarse.offset + coarse.size);
        }
}

TEST(ShardRange, ByHand) {
  EXPECT_EQ(shardRange(10, 1, 4, 0), (Range{0, 3}));
  EXPECT_EQ(shardRange(10, 1, 4, 1), (Range{3, 2}));
  EXPECT_EQ(shardRange(10, 1, 4, 2), (Range{5, 3}));
  EXPECT_EQ(shardRange(10, 1, 4, 3), (Range{8, 2}));
  // 9 heads of 64 over two: five and four heads.
  EXPECT_EQ(shardRange(9 * 64, 64, 2, 0), (Range{0, 320}));
  EXPECT_EQ(shardRange(9 * 64, 64, 2, 1), (Range{320, 256}));
  EXPECT_EQ(shardRange(2, 1, 4, 0), (Range{0, 1}));
  EXPECT_EQ(shardRange(2, 1, 4, 3), (Range{2, 0}));
}

TEST(ShardRange, OfTheLargestDim) {
  constexpr int64_t half = int64_t(1) << 62;
  EXPECT_EQ(shardRange(half, 1, 4, 3), (Range{3 * (half / 4), half / 4}));
  // INT64_MAX is 2^63 - 1: of four shards the last is one smaller.
  EXPECT_EQ(shardRange(INT64_MAX, 1, 4, 2), (Range{half, half / 2}));
  EXPECT_EQ(shardRange(INT64_MAX, 1, 4, 3), (Range{half + half / 2, half / 2 - 1}));
  EXPECT_EQ(shardRange(INT64_MAX, INT64_MAX, 2147483647, 2147483646), (Range{INT64_MAX, 0}));
}

TEST(ShardRange, UnitsThatRepeatAreHeldByAllThatAreSplitAPart) {
  // 3 key heads of 8, each shared by 3 query heads, over 4: the query heads are distributed 3 + 2 + 2 + 2.
  EXPECT_EQ(shardRange(24, 8, 4, 0, 3), (Range{0, 8}));
  EXPECT_EQ(shardRange(24, 8, 4, 1, 3), (Range{8, 8}));
  EXPECT_EQ(shardRange(24, 8, 4, 2, 3), (Range{8, 16}));
  EXPECT_EQ(shardRange(24, 8, 4, 3, 3), (Range{16, 8}));
}

TEST(ShardRange, EveryConsumerFindsItsUnit) {
  for (int64_t units = 1; units <= 8; ++units)
    for (int64_t repeat = 1; repeat <= 5; ++repeat)
      for (int64_t count = 1; count <= 12; ++count) {
        for (int64_t index = 0; index < count; ++index) {
          Range consumers = shardRange(units * repeat, 1, count, index),
                held = shardRange(units, 1, count, index, repeat);
          for (int64_t consumer = consumers.offset; consumer < consumers.offset + consumers.size; ++consumer) {
            EXPECT_GE(consumer / repeat, held.offset);
            EXPECT_LT(consumer / repeat, held.offset + held.size);
          }
        }
      }
}

TEST(ShardRanges, PartsAreSplitOneByOne) {
  // A fused qkv weight: 4 query heads, 2 key heads, 2 value heads of 2 elements, over two.
  DimSharding dim{.extent = 16, .axes = {{0, 1, 2}}, .parts = {{8, 2}, {4, 2}, {4, 2}}};
  EXPECT_THAT(shardRanges(dim, 0), ElementsAre(Range{0, 4}, Range{8, 2}, Range{12, 2}));
  EXPECT_THAT(shardRanges(dim, 1), ElementsAre(Range{4, 4}, Range{10, 2}, Range{14, 2}));
}

/// Shards that hold block `unit` of `units` if each is needed `repeat` times: those that get one of its uses.
std::set<int64_t> ownersOf(int64_t unit, int64_t units, int64_t repeat, int64_t count) {
  std::set<int64_t> owners;
  for (int64_t use = unit * repeat; use < (unit + 1) * repeat; ++use)
    owners.insert(use * count / (units * repeat));
  return owners;
}

TEST(ShardRanges, AUnitLiesWhereItsShareOfTheDimLies) {
  for (int64_t unit : {1, 2, 5})
    for (int64_t units = 0; units <= 9; ++units)
      for (int64_t repeat = 1; repeat <= 4; ++repeat)
        for (int64_t count = 1; count <= 10; ++count) {
          DimSharding dim{.extent = units * unit, .axes = {{0, 1, count}}, .unit = unit, .repeat = repeat};
          int64_t largest = 0;
          for (int64_t index = 0; index < count; ++index) {
            std::vector<int64_t> expected;
            for (int64_t element = 0; element < dim.extent; ++element)
              if (ownersOf(element / unit, units, repeat, count).contains(index))
                expected.push_back(element);
            EXPECT_EQ(elementsOf(dim, index), expected);
            largest = std::max(largest, static_cast<int64_t>(expected.size()));
          }
          EXPECT_EQ(largestExtent(dim), largest);
        }
}

TEST(ShardRanges, EachPartIsSplitAsADimOfItsOwn) {
  for (const std::vector<int64_t> &parts : {std::vector<int64_t>{4}, {0, 6}, {2, 2, 2}, {14, 0, 2}})
    for (int64_t count = 1; count <= 8; ++count) {
      DimSharding dim{.extent = std::accumulate(parts.begin(), parts.end(), int64_t(0)),
                      .axes = {{0, 1, count}},
                      .parts = std::vector<DimPart>(parts.begin(), parts.end())};
      for (DimPart &part : dim.parts)
        part.unit = 2;
      for (int64_t index = 0; index < count; ++index) {
        std::vector<int64_t> expected;
        int64_t start = 0;
        for (int64_t part : parts) {
          for (int64_t element = 0; element < part; ++element)
            if (ownersOf(element / 2, part / 2, 1, count).contains(index))
              expected.push_back(start + element);
          start += part;
        }
        EXPECT_EQ(elementsOf(dim, index), expected);
        EXPECT_LE(static_cast<int64_t>(expected.size()), largestExtent(dim));
      }
    }
}

TEST(ShardRanges, EachPartHasUnitsOfItsOwn) {
  // Query heads of 2 elements in groups of 3, and the key head of each group: 3 groups over two, then 9 heads over
  // four.
  DimSharding groups{.extent = 30, .axes = {{0, 1, 2}}, .parts = {{18, 6}, {6, 2}, {6, 2}}};
  EXPECT_THAT(shardRanges(groups, 0), ElementsAre(Range{0, 12}, Range{18, 4}, Range{24, 4}));
  EXPECT_THAT(shardRanges(groups, 1), ElementsAre(Range{12, 6}, Range{22, 2}, Range{28, 2}));
  DimSharding heads{.extent = 30, .axes = {{0, 1, 4}}, .parts = {{18, 2}, {6, 2, 3}, {6, 2, 3}}};
  EXPECT_THAT(shardRanges(heads, 0), ElementsAre(Range{0, 6}, Range{18, 2}, Range{24, 2}));
  EXPECT_THAT(shardRanges(heads, 1), ElementsAre(Range{6, 4}, Range{20, 2}, Range{26, 2}));
  EXPECT_THAT(shardRanges(heads, 2), ElementsAre(Range{10, 4}, Range{20, 4}, Range{26, 4}));
  EXPECT_THAT(shardRanges(heads, 3), ElementsAre(Range{14, 4}, Range{22, 2}, Range{28, 2}));
  EXPECT_EQ(largestExtent(heads), 12) << "the third shard, not the first";
}

TEST(LargestExtent, IsThatOfTheLargestShard) {
  std::mt19937 generator(3);
  auto draw = [&](int64_t first, int64_t last) {
    return std::uniform_int_distribution<int64_t>(first, last)(generator);
  };
  for (int round = 0; round < 2000; ++round) {
    DimSharding dim{.axes = {{0, 1, draw(1, 12)}}};
    for (int64_t parts = draw(1, 3); parts > 0; --parts) {
      int64_t unit = draw(1, 3);
      dim.parts.emplace_back(unit * draw(0, 7), unit, std::max<int64_t>(draw(-2, 5), 1));
      dim.extent += dim.parts.back().extent;
    }
    size_t largest = 0;
    for (int64_t index = 0; index < shardCount(dim.axes); ++index)
      largest = std::max(largest, elementsOf(dim, index).size());
    EXPECT_EQ(largestExtent(dim), static_cast<int64_t>(largest)) << "round " << round;
  }
}

TEST(LargestExtent, OfMoreShardsThanUnits) {
  for (int64_t count : {64, 100, 4096}) {
    DimSharding dim{.extent = 6 * 8, .axes = {{0, 1, count}}, .unit = 8, .parts = {}, .repeat = 5};
    int64_t largest = 0;
    for (int64_t index = 0; index < count; ++index)
      largest = std::max(largest, static_cast<int64_t>(elementsOf(dim, index).size()));
    EXPECT_EQ(largestExtent(dim), largest) << count;
  }
}

TEST(Coordinates, OfAMeshWithoutAxes) {
  EXPECT_TRUE(coordinateOfRank(0, {}).empty());
  EXPECT_EQ(rankOfCoordinate({}, {}), 0);
  EXPECT_THAT(groupOf({}, {}, {}), ElementsAre(0));
  DimSharding dim{.extent = 7};
  EXPECT_EQ(localExtent(dim, {}, {}), 7);
}

TEST(Coordinates, LastAxisVariesFastest) {
  std::vector<int64_t> mesh = {2, 3, 4};
  EXPECT_THAT(coordinateOfRank(0, mesh), ElementsAre(0, 0, 0));
  EXPECT_THAT(coordinateOfRank(1, mesh), ElementsAre(0, 0, 1));
  EXPECT_THAT(coordinateOfRank(4, mesh), ElementsAre(0, 1, 0));
  EXPECT_THAT(coordinateOfRank(23, mesh), ElementsAre(1, 2, 3));
  for (int64_t rank = 0; rank < 24; ++rank)
    EXPECT_EQ(rankOfCoordinate(coordinateOfRank(rank, mesh), mesh), rank);
}

TEST(ShardIndex, FirstAxisOfTheListIsMajor) {
  std::vector<int64_t> mesh = {2, 3};
  AxisRef dp{0, 1, 2}, tp{1, 1, 3};
  std::vector<int64_t> coordinate = {1, 2};
  EXPECT_EQ(shardIndex(std::vector{dp, tp}, mesh, coordinate), 1 * 3 + 2);
  EXPECT_EQ(shardIndex(std::vector{tp, dp}, mesh, coordinate), 2 * 2 + 1);
  EXPECT_EQ(shardIndex({}, mesh, coordinate), 0);
}

TEST(ShardIndex, SubAxesAreDigitsOfTheCoordinate) {
  std::vector<int64_t> mesh = {12};
  AxisRef major{0, 1, 2}, middle{0, 2, 3}, minor{0, 6, 2};
  for (int64_t rank = 0; rank < 12; ++rank) {
    std::vector<int64_t> coordinate = {rank};
    EXPECT_EQ(shardIndex(std::vector{major}, mesh, coordinate), rank / 6);
    EXPECT_EQ(shardIndex(std::vector{middle}, mesh, coordinate), rank / 2 % 3);
    EXPECT_EQ(shardIndex(std::vector{minor}, mesh, coordinate), rank % 2);
    EXPECT_EQ(shardIndex(std::vector{major, middle, minor}, mesh, coordinate), rank) << "digits make the whole axis";
  }
}

/// All combinations for which the following properties are checked.
struct Layout {
  std::vector<int64_t> mesh;
  std::vector<AxisRef> axes;
};

std::vector<Layout> layouts() {
  return {{{2, 3}, {}},
          {{2, 3}, {{0, 1, 2}}},
          {{2, 3}, {{1, 1, 3}}},
          {{2, 3}, {{1, 1, 3}, {0, 1, 2}}},
          {{2, 4}, {{1, 1, 2}}},
          {{2, 4}, {{1, 2, 2}}},
          {{2, 4}, {{1, 2, 2}, {0, 1, 2}, {1, 1, 2}}},
          {{3, 8}, {{1, 2, 2}, {0, 1, 3}}}};
}

TEST(LocalRanges, EachElementIsHeldByOneShardAndAllItsReplicas) {
  for (const Layout &layout : layouts()) {
    DimSharding dim{.extent = 35, .axes = layout.axes, .unit = 1, .parts = {}};
    int64_t world = 1;
    for (int64_t size : layout.mesh)
      world *= size;
    std::map<int64_t, int64_t> holders;
    for (int64_t rank = 0; rank < world; ++rank) {
      std::vector<int64_t> coordinate = coordinateOfRank(rank, layout.mesh);
      std::vector<Range> ranges = localRanges(dim, layout.mesh, coordinate);
      ASSERT_EQ(ranges.size(), 1u);
      EXPECT_EQ(ranges[0].size, localExtent(dim, layout.mesh, coordinate));
      EXPECT_EQ(ranges[0].offset, localOffset(dim, layout.mesh, coordinate));
      for (int64_t i = 0; i < ranges[0].size; ++i)
        ++holders[ranges[0].offset + i];
    }
    EXPECT_EQ(holders.size(), 35u);
    for (auto [element, count] : holders)
      EXPECT_EQ(count, world / shardCount(layout.axes)) << "element " << element;
  }
}

TEST(FlatRange, ByHand) {
  std::vector<int64_t> mesh = {2, 3};
  std::vector<AxisRef> both = {{0, 1, 2}, {1, 1, 3}};
  auto run = [&](int64_t elements, const std::vector<AxisRef> &axes, int64_t rank) {
    return flatRange(elements, axes, mesh, coordinateOfRank(rank, mesh));
  };
  EXPECT_EQ(run(7, {{1, 1, 3}}, 0), (Range{0, 3}));
  EXPECT_EQ(run(7, {{1, 1, 3}}, 4), (Range{3, 2}));
  EXPECT_EQ(run(7, {{1, 1, 3}}, 5), (Range{5, 2}));
  EXPECT_EQ(run(12, both, 5), (Range{10, 2}));
  EXPECT_EQ(run(9, {}, 5), (Range{0, 9})) << "without axes a rank holds all";
  // Fewer elements than ranks: some hold none.
  EXPECT_EQ(run(2, both, 0), (Range{0, 1}));
  EXPECT_EQ(run(2, both, 1), (Range{1, 0}));
  EXPECT_EQ(run(2, both, 3), (Range{1, 1}));
}

TEST(FlatRange, RanksHoldRunsThatDifferByOneElementAndMakeUpAll) {
  for (const Layout &layout : layouts())
    for (int64_t elements : {0, 1, 5, 35, 64}) {
      int64_t count = shardCount(layout.axes);
      std::map<int64_t, Range> byShard;
      int64_t world = std::accumulate(layout.mesh.begin(), layout.mesh.end(), int64_t(1), std::multiplies<>());
      for (int64_t rank = 0; rank < world; ++rank) {
        std::vector<int64_t> coordinate = coordinateOfRank(rank, layout.mesh);
        Range run = flatRange(elements, layout.axes, layout.mesh, coordinate);
        EXPECT_GE(run.size, elements / count);
        EXPECT_LE(run.size, (elements + count - 1) / count);
        auto [known, isNew] = byShard.try_emplace(shardIndex(layout.axes, layout.mesh, coordinate), run);
        EXPECT_EQ(known->second, run) << "ranks that differ in other axes only hold the same";
      }
      int64_t end = 0;
      for (const auto &[shard, run] : byShard) {
        EXPECT_EQ(run.offset, end);
        end += run.size;
      }
      EXPECT_EQ(end, elements);
    }
}

TEST(GroupOf, RanksThatDifferInTheAxesOnlyInShardOrder) {
  for (const Layout &layout : layouts()) {
    int64_t world = 1;
    for (int64_t size : layout.mesh)
      world *= size;
    for (int64_t rank = 0; rank < world; ++rank) {
      std::vector<int64_t> coordinate = coordinateOfRank(rank, layout.mesh);
      std::vector<int64_t> group = groupOf(layout.axes, layout.mesh, coordinate);
      ASSERT_EQ(static_cast<int64_t>(group.size()), shardCount(layout.axes));
      EXPECT_EQ(group[shardIndex(layout.axes, layout.mesh, coordinate)], rank);
      for (size_t i = 0; i < group.size(); ++i) {
        std::vector<int64_t> peer = coordinateOfRank(group[i], layout.mesh);
        EXPECT_EQ(shardIndex(layout.axes, layout.mesh, peer), static_cast<int64_t>(i));
        EXPECT_EQ(groupOf(layout.axes, layout.mesh, peer), group) << "the group is the same for each of its ranks";
      }
    }
  }
}

/// Digits of random axes, which together form whole axes, in random order; the first `used` of them shard a dim.
TEST(GroupOf, WithDrawnDigitsMovesOnlyWhatTheyDivide) {
  std::mt19937 generator(5);
  auto draw = [&](auto... values) { return std::vector<int64_t>{values...}[generator() % sizeof...(values)]; };
  for (int round = 0; round < 300; ++round) {
    std::vector<int64_t> mesh;
    std::vector<AxisRef> digits;
    for (int64_t axis = 0; axis < 3; ++axis) {
      int64_t pre = 1;
      for (int64_t parts = draw(1, 2, 3); parts > 0; --parts) {
        digits.push_back({axis, pre, draw(1, 2, 3)});
        pre *= digits.back().size;
      }
      mesh.push_back(pre);
    }
    std::shuffle(digits.begin(), digits.end(), generator);
    size_t used = generator() % digits.size();
    std::vector<AxisRef> divides(digits.begin(), digits.begin() + static_cast<std::ptrdiff_t>(used));
    std::vector<AxisRef> others(digits.begin() + static_cast<std::ptrdiff_t>(used), digits.end());
    std::vector<int64_t> own = coordinateOfRank(draw(0, 1, 2) % (mesh[0] * mesh[1] * mesh[2]), mesh);
    std::set<std::vector<int64_t>> seen;
    for (int64_t rank : groupOf(divides, mesh, own)) {
      std::vector<int64_t> peer = coordinateOfRank(rank, mesh);
      EXPECT_EQ(shardIndex(others, mesh, peer), shardIndex(others, mesh, own)) << "round " << round;
      seen.insert(peer);
    }
    EXPECT_EQ(static_cast<int64_t>(seen.size()), shardCount(divides));
  }
}

TEST(GroupOf, ByHand) {
  std::vector<int64_t> mesh = {2, 3};
  EXPECT_THAT(groupOf(std::vector<AxisRef>{{1, 1, 3}}, mesh, std::vector<int64_t>{1, 1}), ElementsAre(3, 4, 5));
  EXPECT_THAT(groupOf(std::vector<AxisRef>{{0, 1, 2}}, mesh, std::vector<int64_t>{1, 1}), ElementsAre(1, 4));
  std::vector<int64_t> line = {8};
  EXPECT_THAT(groupOf(std::vector<AxisRef>{{0, 2, 2}}, line, std::vector<int64_t>{5}), ElementsAre(5, 7));
}

TEST(AxesWithout, OnlyTheMostMinorAxisLeavesUnequalShards) {
  const AxisRef pod{0, 1, 2}, dp{1, 1, 4}, major{1, 1, 2}, minor{1, 2, 2};
  DimSharding equal{.extent = 16, .axes = {pod, dp}}, unequal{.extent = 9, .axes = {pod, dp}};
  EXPECT_EQ(axesWithout(equal, dp), std::vector{pod});
  EXPECT_EQ(axesWithout(equal, pod), std::vector{dp});
  EXPECT_EQ(axesWithout(equal, minor), (std::vector{pod, major}));
  EXPECT_EQ(axesWithout(equal, major), (std::vector{pod, minor}));
  EXPECT_EQ(axesWithout(equal, {2, 1, 2}), std::nullopt) << "an axis that the dim does not have";
  EXPECT_EQ(axesWithout(unequal, dp), std::vector{pod});
  EXPECT_EQ(axesWithout(unequal, minor), (std::vector{pod, major}));
  EXPECT_EQ(axesWithout(unequal, pod), std::nullopt);
  EXPECT_EQ(axesWithout(unequal, major), std::nullopt);
  DimSharding blocks{.extent = 24, .axes = {pod, dp}, .unit = 4};
  EXPECT_EQ(axesWithout(blocks, pod), std::nullopt) << "6 blocks over 8 shards";
}

} // namespace
} // namespace meshplan
