//===- verify_collectives_test.cpp - cyclic waits of collectives ----------===//

#include "test/unit/scheduling/problem_fixture.h"

using namespace meshplan::scheduling;

/// Two independent collectives, on streams and communicators to be filled in.
static std::string twoCollectives(const char *first, const char *second) {
  return std::string(R"(
stream one
stream two
communicator tp 1:(1)4
communicator inner 1:(2)2
communicator dp 0:(1)2
communicator world 0:(1)2 1:(1)4
buffer x 8 permanent
buffer y 8 kept
buffer z 8 kept
)") + "operation first " +
         first + " reads x writes y\noperation second " + second + " reads x writes z\n";
}

static constexpr const char *together = "start first\nstart second\nwait first\nwait second\n";
static constexpr const char *inTurn = "start first\nwait first\nstart second\nwait second\n";

TEST(VerifyCollectives, V7OneOrderOnACommunicator) {
  std::string problem = twoCollectives("on one over tp", "on two over tp");
  EXPECT_EQ(verifyText(problem, together),
            "V7: 'first' and 'second' are in flight together on streams 'one' and 'two', both on communicator 'tp'");
  EXPECT_EQ(verifyText(problem, inTurn), "");
  EXPECT_EQ(verifyText(twoCollectives("on one over tp", "on one over tp"), together), "");
}

TEST(VerifyCollectives, V8NoCyclicWaitAcrossCommunicators) {
  std::string problem = twoCollectives("on one over tp", "on two over world");
  EXPECT_EQ(verifyText(problem, together), "V8: 'first' and 'second' are in flight together on streams 'one' and "
                                           "'two', and communicators 'tp' and 'world' share more than one rank");
  EXPECT_EQ(verifyText(problem, inTurn), "");
  EXPECT_EQ(verifyText(twoCollectives("on one over world", "on one over tp"), together), "");
  // A group of tp and a group of dp share one rank; tp and its inner digit share more.
  EXPECT_EQ(verifyText(twoCollectives("on one over tp", "on two over dp"), together), "");
  EXPECT_THAT(verifyText(twoCollectives("on one over inner", "on two over tp"), together), testing::HasSubstr("V8"));
}

TEST(VerifyCollectives, ConflictNeedsTwoStreamsAndTwoCommonRanks) {
  struct {
    const char *first, *second;
    bool conflict;
  } cases[] = {{"on one over tp", "on one over world", false}, {"on one over tp", "on two over tp", true},
               {"on one over tp", "on two over dp", false},    {"on one over dp", "on two over world", true},
               {"on one over tp", "on two over inner", true},  {"on one over dp", "on two over inner", false}};
  for (auto [first, second, conflict] : cases) {
    Problem problem = parse(twoCollectives(first, second)).problem;
    EXPECT_EQ(inConflict(problem, problem.operations[0], problem.operations[1]), conflict) << first << ", " << second;
    EXPECT_EQ(inConflict(problem, problem.operations[1], problem.operations[0]), conflict) << second << ", " << first;
  }
}

TEST(VerifyCollectives, EveryCollectiveInFlightCounts) {
  // The second of three is done; the first, on another stream, is not.
  std::string problem = twoCollectives("on one over tp", "on one over dp") +
                        "buffer u 8 kept\noperation third on two over world reads x writes u\n";
  EXPECT_THAT(verifyText(problem, "start first\nstart second\nwait second\nstart third\nwait first\nwait third\n"),
              testing::StartsWith("V8: 'first' and 'third'"));
  EXPECT_EQ(verifyText(problem, "start first\nstart second\nwait second\nwait first\nstart third\nwait third\n"), "");
}
