//===- simulate_test.cpp - times worked out by hand -----------------------===//

#include "compiler/scheduling/algorithms.h"
#include "compiler/scheduling/simulate.h"
#include "test/unit/scheduling/problem_fixture.h"
#include "test/unit/scheduling/random_problem.h"
#include <numeric>

using namespace meshplan::scheduling;
using testing::ElementsAre;

namespace meshplan::scheduling {
static void PrintTo(const Interval &interval, std::ostream *stream) {
  *stream << interval.begin << " to " << interval.end;
}
} // namespace meshplan::scheduling

static Interval at(int64_t begin, int64_t end) { return {begin, end}; }

/// Lanes for tp and dp over one wire that carries a byte in a nanosecond.
static constexpr const char *oneWire = R"(
lane compute
lane tp collectives
lane dp collectives
lane copies copies
link wire 1000000000
link slow 500000000
communicator tp 1:(1)2
communicator dp 0:(1)2
)";

static Timeline timesOf(const std::string &text, const char *header = oneWire) {
  ProblemText parsed = parse(header + text);
  EXPECT_EQ(message(parsed.problem.check()), "");
  EXPECT_EQ(message(verify(parsed.problem, *parsed.solution)), "");
  return simulate(parsed.problem, *parsed.solution);
}

TEST(Simulate, ComputingIsOneAfterTheOther) {
  Timeline times = timesOf("operation a on compute duration 3\noperation b on compute duration 4\nrun a\nrun b\n");
  EXPECT_THAT(times.operations, ElementsAre(at(0, 3), at(3, 7)));
  EXPECT_EQ(times.makespan, 7);
  EXPECT_THAT(times.busy, ElementsAre(7, 0, 0, 0));
  EXPECT_THAT(times.exposed, ElementsAre(0, 0));
}

static const std::string overlapped = R"(operation a on compute duration 3
operation sum on tp over tp latency 5 moves wire 10 after a
operation b on compute duration 8
operation c on compute duration 2 after sum
)";

TEST(Simulate, WhatComputingDoesNotCoverIsExposed) {
  Timeline times = timesOf(overlapped + "run a\nstart sum\nrun b\nwait sum\nrun c\n");
  EXPECT_THAT(times.operations, ElementsAre(at(0, 3), at(3, 18), at(3, 11), at(18, 20)));
  EXPECT_THAT(times.exposed, ElementsAre(0, 7, 0, 0));
  EXPECT_THAT(times.waits, ElementsAre(at(0, 0), at(11, 18), at(0, 0), at(0, 0)));
  EXPECT_THAT(times.exposedOfLane, ElementsAre(0, 7, 0, 0));
  EXPECT_THAT(times.busy, ElementsAre(13, 15, 0, 0));
}

TEST(Simulate, AWaitThatComesEarlyExposesEverything) {
  Timeline times = timesOf(overlapped + "run a\nstart sum\nwait sum\nrun b\nrun c\n");
  EXPECT_THAT(times.exposed, ElementsAre(0, 15, 0, 0));
  EXPECT_EQ(times.makespan, 28);
}

// A start comes after everything that is issued before it on the compute lane, though nothing that it reads does.
TEST(Simulate, AStartWaitsForItsTurn) {
  Timeline times = timesOf(R"(operation b on compute duration 8
operation sum on tp over tp moves wire 10
run b
start sum
wait sum
)");
  EXPECT_THAT(times.operations, ElementsAre(at(0, 8), at(8, 18)));
}

TEST(Simulate, OneLaneIsInOrderAndTheHeadIsExposed) {
  Timeline times = timesOf(R"(operation first on tp over tp moves wire 10
operation second on tp over tp moves wire 5
operation a on compute duration 4
start first
start second
run a
wait second
wait first
)");
  EXPECT_THAT(times.operations, ElementsAre(at(0, 10), at(10, 15), at(0, 4)));
  EXPECT_THAT(times.exposed, ElementsAre(6, 5, 0)) << "the wait for the second is first one for the first";
}

TEST(Simulate, TransfersShareALink) {
  std::string two = "operation one on tp over tp moves wire 100\noperation other on dp over dp moves wire 50\n"
                    "start one\nstart other\nwait one\nwait other\n";
  Timeline times = timesOf(two);
  // Half the rate each until the shorter one ends at 100; the other has 50 bytes left.
  EXPECT_THAT(times.operations, ElementsAre(at(0, 150), at(0, 100)));
  EXPECT_THAT(times.exposed, ElementsAre(150, 0)) << "only one of them is waited for";
}

TEST(Simulate, ALatencyUsesNoLink) {
  Timeline times = timesOf(R"(operation one on tp over tp moves wire 100
operation other on dp over dp latency 100 moves wire 50
start one
start other
wait one
wait other
)");
  EXPECT_THAT(times.operations, ElementsAre(at(0, 100), at(0, 150)));
}

TEST(Simulate, TheSlowestLinkDecides) {
  Timeline times = timesOf("operation one on tp over tp moves wire 100 slow 80\nstart one\nwait one\n");
  EXPECT_THAT(times.operations, ElementsAre(at(0, 160)));
}

// Alone, `both` takes 100000 on `slow`, and uses a fifth of the wire; `one` takes 90000 on the wire. Together they fill
// the wire at 1 / 1.2 of their speeds.
TEST(Simulate, SpeedsAreMaxMinFair) {
  Timeline times = timesOf(R"(operation both on tp over tp moves wire 20000 slow 50000
operation one on dp over dp moves wire 90000
start both
start one
wait both
wait one
)");
  // At 108000 `one` is over, `both` has a tenth left. Speeds are rounded down, and events to whole nanoseconds.
  EXPECT_NEAR(times.operations[1].end, 108000, 2);
  EXPECT_NEAR(times.operations[0].end, 118000, 2);
}

// Two on `slow` have half of it each, and a quarter of the wire; the third, on the wire alone, has the other half.
TEST(Simulate, WhatOneCannotUseAnotherGets) {
  Timeline times = timesOf(R"(operation a on tp over tp moves slow 50 wire 50
operation b on dp over dp moves slow 50 wire 50
operation c on copies moves wire 50
start a
start b
start c
wait a
wait b
wait c
)");
  // The wire is full at 1/2 + 1/2 * 1/2 + 1/2 * 1/2: all at half speed until `c` is over.
  EXPECT_THAT(times.operations, ElementsAre(at(0, 200), at(0, 200), at(0, 100)));
}

TEST(Simulate, OverlapSlowsDown) {
  Timeline times = timesOf(R"(overlap_speed 500 750
operation one on tp over tp latency 10 moves wire 80
operation a on compute duration 40
start one
run a
wait one
)");
  // 10 at full speed, then 60 at half speed, in which the transfer moves 45 of 80 bytes.
  EXPECT_THAT(times.operations, ElementsAre(at(0, 105), at(0, 70)));
  EXPECT_THAT(times.exposed, ElementsAre(35, 0));
}

// One transfer does not fill the link: two take 4/3 times as long as one, as a calibration may find.
TEST(Simulate, SeveralTransfersHaveMoreOfALinkThanOne) {
  Timeline times = timesOf(R"(link bus 1000000000 shared 1500
operation one on tp over tp moves bus 90000
operation other on dp over dp moves bus 60000
start one
start other
wait one
wait other
)");
  EXPECT_NEAR(times.operations[1].end, 80000, 2);
  EXPECT_NEAR(times.operations[0].end, 110000, 2) << "30000 bytes alone";
}

// Or several hinder each other.
TEST(Simulate, SeveralTransfersHaveLessOfALinkThanOne) {
  std::string link = "link bus 1000000000 shared 800\n";
  std::string one = "operation one on tp over tp moves bus 80000\n";
  Timeline times = timesOf(link + one + R"(operation other on dp over dp moves bus 40000
start one
start other
wait one
wait other
)");
  EXPECT_NEAR(times.operations[1].end, 100000, 2);
  EXPECT_NEAR(times.operations[0].end, 140000, 2);
  EXPECT_EQ(timesOf(link + one + "start one\nwait one\n").makespan, 80000) << "one alone";
}

TEST(Simulate, TheHostIssuesOneByOne) {
  Timeline times = timesOf(R"(issue_time 5
operation a on compute duration 2
operation b on compute duration 20
operation c on compute duration 2
run a
run b
run c
)");
  EXPECT_THAT(times.operations, ElementsAre(at(5, 7), at(10, 30), at(30, 32)));
  EXPECT_EQ(times.waitsForHost, 8);
}

TEST(Simulate, AHostThatComputesIssuesInTheTimeOfItsLane) {
  Timeline times = timesOf(R"(issue_time 5
host_computes
operation sum on tp over tp moves wire 30
operation a on compute duration 10
operation b on compute duration 2
run a
start sum
run b
wait sum
)");
  // `sum` is issued from 10 to 15.
  EXPECT_THAT(times.operations, ElementsAre(at(15, 45), at(0, 10), at(15, 17)));
  EXPECT_EQ(times.waitsForHost, 5);
  EXPECT_EQ(times.makespan, 45);
}

TEST(Simulate, NothingTakesNoTime) {
  EXPECT_EQ(simulate(Problem(), Solution()).makespan, 0);
  Timeline times =
      timesOf("operation none on tp over tp\noperation view on compute\nstart none\nrun view\nwait none\n");
  EXPECT_EQ(times.makespan, 0);
}

TEST(Simulate, EveryMomentIsComputingExposedOrWaitingForTheHost) {
  for (unsigned seed = 0; seed < 500; ++seed) {
    Problem problem = randomProblem(seed);
    problem.issueTime = seed % 3;
    problem.links[0].sharedRate = 600 + seed % 7 * 200;
    problem.hostComputes = seed % 2;
    problem.overlapSpeed = {1000 - seed % 2 * 200, 1000 - seed % 5 * 100};
    llvm::Expected<Solution> solution = programOrder(problem);
    ASSERT_TRUE(static_cast<bool>(solution)) << llvm::toString(solution.takeError());
    Timeline times = simulate(problem, *solution);
    EXPECT_EQ(times.makespan, times.busy[0] + times.waitsForHost +
                                  std::accumulate(times.exposed.begin(), times.exposed.end(), int64_t(0)))
        << "seed " << seed;
    for (auto [index, operation] : llvm::enumerate(problem.operations)) {
      EXPECT_GE(times.operations[index].length(), problem.timeAlone(operation)) << "seed " << seed;
      EXPECT_LE(times.exposed[index], times.operations[index].length()) << "seed " << seed;
    }
  }
}
