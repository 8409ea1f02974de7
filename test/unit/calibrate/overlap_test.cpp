//===- overlap_test.cpp - what computing and communicating cost -----------===//

#include "runtime/calibrate/overlap.h"

#include <array>
#include <gtest/gtest.h>

using namespace meshplan;

namespace {

/// A gather of 4 s and operators of 2 s; beside it these take `computeBesideGather`, and the gather `rest` after them.
OverlapTimes besideEachOther(double computeBesideGather, double rest) {
  return {.gather = 4, .compute = 2, .computeBesideGather = computeBesideGather, .rest = rest, .twoGathers = 8};
}

Slowdowns slowdownsOf(OverlapTimes times) { return meshplan::slowdownsOf(std::array{times}); }

TEST(Slowdowns, NothingSlowsDown) {
  Slowdowns slowdowns = slowdownsOf(besideEachOther(2, 2));
  EXPECT_DOUBLE_EQ(slowdowns.compute, 1);
  EXPECT_DOUBLE_EQ(slowdowns.communication, 1);
  EXPECT_DOUBLE_EQ(slowdowns.concurrent, 2);
}

TEST(Slowdowns, BothShareTheirTime) {
  // In 3 s the operators of 2 s are done, and of the gather what takes 1.5 s alone.
  Slowdowns slowdowns = slowdownsOf(besideEachOther(3, 2.5));
  EXPECT_DOUBLE_EQ(slowdowns.compute, 1.5);
  EXPECT_DOUBLE_EQ(slowdowns.communication, 2);
}

TEST(Slowdowns, AGatherThatDoesNotMoveCostsNothing) {
  Slowdowns slowdowns = slowdownsOf(besideEachOther(3, 4));
  EXPECT_DOUBLE_EQ(slowdowns.communication, cluster_keys::mostSlowdown);
  EXPECT_DOUBLE_EQ(slowdowns.compute, 1) << "what is lost is other load";
}

TEST(Slowdowns, OperatorsLoseNoMoreThanTheGatherHasDone) {
  // In 4 s, of the gather a quarter of that time: 1 s.
  Slowdowns slowdowns = slowdownsOf(besideEachOther(4, 3));
  EXPECT_DOUBLE_EQ(slowdowns.communication, 4);
  EXPECT_DOUBLE_EQ(slowdowns.compute, 4.0 / 3);
}

TEST(Slowdowns, OneDisturbedRoundDoesNotCount) {
  std::array rounds{besideEachOther(2, 2), besideEachOther(9, 4), besideEachOther(2, 2)};
  EXPECT_DOUBLE_EQ(meshplan::slowdownsOf(rounds).compute, 1);
}

} // namespace
