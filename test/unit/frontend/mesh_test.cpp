//===- mesh_test.cpp - digits of a mesh against the coordinates of ranks ---===//

#include "compiler/frontend/mesh.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

using namespace meshplan;
using testing::ElementsAre;
using testing::IsEmpty;

namespace {

/// dp = 8, one = 1, tp = 12; edp is dp:(1)4, ep is dp:(4)2 and tp.
Mesh example() {
  return {{{"dp", 8, {}}, {"one", 1, {}}, {"tp", 12, {}}},
          {{"edp", 4, {}, {{0, 1, 4}}}, {"ep", 24, {}, {{0, 4, 2}, {2, 1, 12}}}, {"none", 1, {}, {}}},
          {}};
}

TEST(Mesh, AxesAndFoldedNamesHaveOneNumbering) {
  Mesh mesh = example();
  EXPECT_THAT(mesh.names(), ElementsAre("dp", "one", "tp", "edp", "ep", "none"));
  for (size_t number = 0; number < mesh.names().size(); ++number)
    EXPECT_EQ(mesh.find(mesh.nameOf(number)), number);
  EXPECT_EQ(mesh.find("cp"), std::nullopt);
  EXPECT_EQ(mesh.sizeOf(2), 12);
  EXPECT_EQ(mesh.sizeOf(4), 24);
  EXPECT_EQ(mesh.shardsOf({0, 2}), 96);
  EXPECT_EQ(mesh.shardsOf({3, 5}), 4);
  EXPECT_EQ(mesh.shardsOf({}), 1);
  EXPECT_EQ(mesh.worldSize(), 96);
}

TEST(Mesh, AdjacentDigitsAreJoined) {
  Mesh mesh = example();
  EXPECT_THAT(mesh.digitsOf({3, 4}), ElementsAre(AxisRef{0, 1, 8}, AxisRef{2, 1, 12}));
  EXPECT_THAT(mesh.digitsOf({4, 3}), ElementsAre(AxisRef{0, 4, 2}, AxisRef{2, 1, 12}, AxisRef{0, 1, 4}));
  EXPECT_THAT(mesh.digitsOf({1, 0}), ElementsAre(AxisRef{1, 1, 1}, AxisRef{0, 1, 8}));
  EXPECT_THAT(mesh.digitsOf({5}), IsEmpty());
}

TEST(Mesh, DigitsOverlapWhereTheyHaveACommonOne) {
  EXPECT_TRUE(overlap({0, 1, 8}, {0, 4, 2}));
  EXPECT_TRUE(overlap({0, 2, 2}, {0, 1, 4}));
  EXPECT_FALSE(overlap({0, 1, 4}, {0, 4, 2}));
  EXPECT_FALSE(overlap({0, 1, 8}, {1, 1, 8}));
  EXPECT_TRUE(overlap({1, 1, 1}, {1, 1, 1})) << "an axis of size 1 is itself";
}

TEST(Mesh, AUnionIsInTheOrderOfTheMesh) {
  EXPECT_THAT(unionOf({{2, 1, 12}, {0, 4, 2}, {0, 1, 2}}),
              ElementsAre(AxisRef{0, 1, 2}, AxisRef{0, 4, 2}, AxisRef{2, 1, 12}));
  EXPECT_THAT(unionOf({{0, 4, 2}, {0, 1, 4}}), ElementsAre(AxisRef{0, 1, 8}));
  EXPECT_THAT(unionOf({{0, 2, 2}, {0, 1, 8}}), ElementsAre(AxisRef{0, 1, 8}));
  EXPECT_THAT(unionOf({}), IsEmpty());
}

TEST(Mesh, WhatDigitsLeave) {
  EXPECT_THAT(without({{0, 1, 8}}, {{0, 4, 2}}), ElementsAre(AxisRef{0, 1, 4}));
  EXPECT_THAT(without({{0, 1, 8}}, {{0, 2, 2}}), ElementsAre(AxisRef{0, 1, 2}, AxisRef{0, 4, 2}));
  EXPECT_THAT(without({{2, 1, 12}, {0, 1, 8}}, {{0, 1, 4}, {2, 3, 2}}),
              ElementsAre(AxisRef{2, 1, 3}, AxisRef{2, 6, 2}, AxisRef{0, 4, 2}));
  EXPECT_THAT(without({{0, 1, 8}}, {{0, 4, 2}, {0, 1, 4}}), IsEmpty());
  EXPECT_THAT(without({{0, 1, 8}, {1, 1, 1}}, {{1, 1, 1}}), ElementsAre(AxisRef{0, 1, 8}));
  EXPECT_THAT(without({{0, 4, 2}}, {{0, 1, 8}}), IsEmpty());
  EXPECT_THAT(without({{0, 1, 4}, {1, 1, 1}}, {}), ElementsAre(AxisRef{0, 1, 4}, AxisRef{1, 1, 1}));
}

/// Ranks differ in a union if they differ in one of its digits, and in what is left if they still do.
TEST(Mesh, RanksAgree) {
  std::vector<int64_t> sizes = {8, 1, 12};
  std::vector<AxisRef> all = {{0, 1, 8}, {2, 1, 12}}, some = {{0, 2, 2}, {2, 1, 2}, {2, 6, 2}};
  std::vector<AxisRef> left = without(all, some);
  std::set<std::pair<int64_t, int64_t>> pairs;
  for (int64_t rank = 0; rank < 96; ++rank) {
    std::vector<int64_t> coordinate = coordinateOfRank(rank, sizes);
    pairs.emplace(shardIndex(some, sizes, coordinate), shardIndex(left, sizes, coordinate));
  }
  EXPECT_EQ(shardCount(some) * shardCount(left), 96);
  EXPECT_EQ(pairs.size(), 96u) << "together they tell all ranks apart";
}

} // namespace
