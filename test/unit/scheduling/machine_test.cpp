//===- machine_test.cpp - time estimates of operations --------------------===//

#include "compiler/scheduling/machine.h"
#include "gtest/gtest.h"

using namespace meshplan;
using namespace meshplan::scheduling;

namespace {

const Machine round{.narrowFlops = 1000e9,
                    .flops = 100e9,
                    .memoryBytes = 10e9,
                    .nodeBytes = 4e9,
                    .networkBytes = 1e9,
                    .ranksOfNode = 4,
                    .transferBytes = 2e9,
                    .hostMemoryBytes = 0.5e9,
                    .launchSeconds = 5e-9,
                    .collectiveSeconds = 100e-9};

TEST(Machine, AnOperatorTakesTheLongerOfArithmeticAndTraffic) {
  EXPECT_EQ(computeTime(round, 100'000, 1000, /*isNarrow=*/false), 1000);
  EXPECT_EQ(computeTime(round, 100'000, 1000, /*isNarrow=*/true), 100);
  EXPECT_EQ(computeTime(round, 100, 5000, /*isNarrow=*/false), 500);
}

TEST(Machine, AKernelIsLaunchedAndAViewIsNot) {
  EXPECT_EQ(computeTime(round, 1, 1, /*isNarrow=*/true), 5);
  EXPECT_EQ(computeTime(round, 0, 0, /*isNarrow=*/true), 0);
}

TEST(Machine, TheHostIsReachedByItsLink) {
  EXPECT_EQ(transferTime(round, 4000), 2000);
  EXPECT_EQ(transferTime(round, 1), 5) << "a copy is launched";
  EXPECT_EQ(hostTime(round, 4000), 8000);
}

TEST(Machine, GroupsThatLeaveTheNodeAreSlower) {
  EXPECT_EQ(collectiveTime(round, 4000, 4), 1100);
  EXPECT_EQ(collectiveTime(round, 4000, 5), 4100);
  EXPECT_EQ(collectiveTime(round, 0, 1), 100);
}

/// The distance between the first and the last rank of rank 0's group.
int64_t listedSpan(std::span<const AxisRef> axes, std::span<const int64_t> sizes) {
  std::vector<int64_t> ranks = groupOf(axes, sizes, std::vector<int64_t>(sizes.size(), 0));
  auto [first, last] = std::minmax_element(ranks.begin(), ranks.end());
  return *last - *first + 1;
}

TEST(Machine, SpanOfAGroup) {
  const std::vector<int64_t> sizes{2, 6, 4};
  const std::vector<std::vector<AxisRef>> groups{
      {{2, 1, 4}}, {{1, 1, 6}}, {{0, 1, 2}}, {{1, 2, 3}}, {{1, 1, 2}}, {{0, 1, 2}, {2, 1, 4}}, {{1, 1, 3}, {2, 2, 2}}};
  for (const std::vector<AxisRef> &axes : groups)
    EXPECT_EQ(groupSpan(axes, sizes), listedSpan(axes, sizes));
  EXPECT_EQ(groupSpan(std::vector<AxisRef>{{1, 1, 6}}, sizes), 21);
}

TEST(Machine, TheReferenceIsFasterOnNarrowOperandsAndWithinANode) {
  Machine machine;
  EXPECT_LT(computeTime(machine, 1e12, 0, true), computeTime(machine, 1e12, 0, false));
  EXPECT_LT(collectiveTime(machine, 1e9, machine.ranksOfNode), collectiveTime(machine, 1e9, machine.ranksOfNode + 1));
}

} // namespace
