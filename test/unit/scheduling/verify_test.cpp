//===- verify_test.cpp - one wrong solution for each rule V ---------------===//

#include "test/unit/scheduling/problem_fixture.h"

using namespace meshplan::scheduling;

TEST(Verify, AcceptsACorrectSolution) { EXPECT_EQ(verifyText(mlp, mlpSteps), ""); }

TEST(Verify, V1EveryOperationRunsOnce) {
  EXPECT_EQ(verifyText(mlp, "run linear\nrun linear\n"), "V1: step 'run linear' comes a second time");
  EXPECT_EQ(verifyText(mlp, "run reduce\n"), "V1: step 'run reduce' runs a collective");
  EXPECT_EQ(verifyText(mlp, "start linear\n"), "V1: step 'start linear' treats an operation as a collective");
  EXPECT_EQ(verifyText(mlp, "run linear\nstart reduce\nwait reduce\nfree y\n"), "V1: operation 'reshape' never runs");
  Problem problem = parse(mlp).problem;
  EXPECT_EQ(message(verify(problem, {{{StepKind::run, 4}}})), "V1: step 'run 4' names index 4 of 4");
}

TEST(Verify, V2StartBeforeWait) {
  EXPECT_EQ(verifyText(mlp, "run linear\nwait reduce\n"), "V2: step 'wait reduce' comes before the start");
  EXPECT_EQ(verifyText(mlp, "run linear\nstart reduce\nwait reduce\nwait reduce\n"),
            "V2: step 'wait reduce' comes a second time");
  const char *unused = R"(
stream communication
communicator tp 1:(1)3
buffer x 1 permanent
buffer y 1 kept
operation gather on communication over tp reads x writes y
)";
  EXPECT_EQ(verifyText(unused, "start gather\n"), "V2: collective 'gather' is never waited for");
}

TEST(Verify, V3DependenciesAreOver) {
  EXPECT_EQ(verifyText(mlp, "start reduce\n"), "V3: step 'start reduce' comes before 'linear' is over");
  EXPECT_EQ(verifyText(mlp, "run linear\nstart reduce\nrun reshape\n"),
            "V3: step 'run reshape' comes before 'reduce' is over");
}

TEST(Verify, V4NoUseAfterFree) {
  EXPECT_EQ(verifyText(mlp, "run linear\nfree y\nstart reduce\n"),
            "V4: step 'start reduce' uses buffer 'y' after it was freed");
}

TEST(Verify, V5OnlyLiveIdleTemporariesAreFreed) {
  EXPECT_EQ(verifyText(mlp, "free w\n"), "V5: step 'free w' frees a permanent buffer");
  EXPECT_EQ(verifyText(mlp, "free u\n"), "V5: step 'free u' frees a buffer that the caller receives");
  EXPECT_EQ(verifyText(mlp, "free y\n"), "V5: step 'free y' comes before the buffer is produced");
  EXPECT_EQ(verifyText(mlp, "run linear\nfree y\nfree y\n"), "V5: step 'free y' comes a second time");
  EXPECT_EQ(verifyText(mlp, "run linear\nstart reduce\nfree y\n"),
            "V5: step 'free y' comes while 'reduce' is in flight");
  EXPECT_EQ(verifyText(mlp, "run linear\nstart reduce\nfree z\n"),
            "V5: step 'free z' comes before the buffer is produced");
}

TEST(Verify, V6TemporariesAreFreed) {
  llvm::StringRef steps(mlpSteps);
  EXPECT_EQ(verifyText(mlp, steps.drop_back(llvm::StringRef("free v\n").size())), "V6: buffer 'v' is never freed");
}

TEST(Verify, V7MemoryLimit) {
  // The peak is w, x, y and the workspace of `linear`, then w, x, y and z.
  std::string limited = std::string(mlp) + "limit 209\n";
  EXPECT_EQ(verifyText(limited, mlpSteps), "V7: rank class 0 holds 210 bytes at 'start reduce', the limit is 209");
  EXPECT_EQ(verifyText(std::string(mlp) + "limit 210\n", mlpSteps), "");
}

/// Two collectives that do not depend on each other, on streams and communicators to be filled in.
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

TEST(Verify, V8OneOrderOnACommunicator) {
  std::string problem = twoCollectives("on one over tp", "on two over tp");
  EXPECT_EQ(verifyText(problem, together),
            "V8: 'first' and 'second' are in flight together on streams 'one' and 'two', both on communicator 'tp'");
  EXPECT_EQ(verifyText(problem, inTurn), "");
  EXPECT_EQ(verifyText(twoCollectives("on one over tp", "on one over tp"), together), "");
}

TEST(Verify, V9NoCyclicWaitAcrossCommunicators) {
  std::string problem = twoCollectives("on one over tp", "on two over world");
  EXPECT_EQ(verifyText(problem, together), "V9: 'first' and 'second' are in flight together on streams 'one' and "
                                           "'two', and communicators 'tp' and 'world' share more than one rank");
  EXPECT_EQ(verifyText(problem, inTurn), "");
  EXPECT_EQ(verifyText(twoCollectives("on one over world", "on one over tp"), together), "");
  // A group of tp and a group of dp have one rank in common, tp and its inner digit more.
  EXPECT_EQ(verifyText(twoCollectives("on one over tp", "on two over dp"), together), "");
  EXPECT_THAT(verifyText(twoCollectives("on one over inner", "on two over tp"), together), testing::HasSubstr("V9"));
}
