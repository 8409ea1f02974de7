//===- verify_lifetimes_test.cpp - one wrong solution for each rule V1 to V6 =//

#include "compiler/scheduling/algorithms.h"
#include "test/unit/scheduling/problem_fixture.h"
#include "test/unit/scheduling/random_problem.h"

using namespace meshplan::scheduling;

TEST(VerifyLifetimes, V1EveryOperationRunsOnce) {
  EXPECT_EQ(verifyText(mlp, "run linear\nrun linear\n"), "V1: step 'run linear' is repeated");
  EXPECT_EQ(verifyText(mlp, "run reduce\n"), "V1: step 'run reduce' runs an operation that is started and waited for");
  EXPECT_EQ(verifyText(mlp, "start linear\n"),
            "V1: step 'start linear' is for asynchronous operations, this one runs on the compute lane");
  EXPECT_EQ(verifyText(mlp, "run linear\nstart reduce\nwait reduce\nfree y\n"), "V1: operation 'reshape' never runs");
  Problem problem = parse(mlp).problem;
  EXPECT_EQ(message(verify(problem, {{{StepKind::run, 4}}})), "V1: step 'run 4' names index 4 of 4");
}

TEST(VerifyLifetimes, V2StartBeforeWait) {
  EXPECT_EQ(verifyText(mlp, "run linear\nwait reduce\n"), "V2: step 'wait reduce' comes before the start");
  EXPECT_EQ(verifyText(mlp, "run linear\nstart reduce\nwait reduce\nwait reduce\n"),
            "V2: step 'wait reduce' is repeated");
  EXPECT_EQ(verifyText(twoLanes + R"(buffer y 1 kept
operation gather on communication over tp reads x writes y
)",
                       "start gather\n"),
            "V2: operation 'gather' is never waited for");
}

TEST(VerifyLifetimes, V2WhatIsBlockingIsWaitedForWhereItStarts) {
  std::string problem = std::string(twoLanes) + R"(buffer y 1 kept
operation gather on communication over tp reads x writes y blocking
operation a on compute reads x
)";
  EXPECT_EQ(verifyText(problem, "start gather\nwait gather\nrun a\n"), "");
  EXPECT_EQ(verifyText(problem, "start gather\nrun a\nwait gather\n"),
            "V2: step 'run a' comes before the wait for 'gather', which is waited for where it starts");
}

TEST(VerifyLifetimes, V3DependenciesAreOver) {
  EXPECT_EQ(verifyText(mlp, "start reduce\n"), "V3: step 'start reduce' comes before 'linear' is over");
  EXPECT_EQ(verifyText(mlp, "run linear\nstart reduce\nrun reshape\n"),
            "V3: step 'run reshape' comes before 'reduce' is over");
}

TEST(VerifyLifetimes, V4NoUseAfterFree) {
  EXPECT_EQ(verifyText(mlp, "run linear\nfree y\nstart reduce\n"),
            "V4: step 'start reduce' uses buffer 'y' after it was freed");
}

TEST(VerifyLifetimes, V5OnlyLiveIdleTemporariesAreFreed) {
  EXPECT_EQ(verifyText(mlp, "free w\n"), "V5: step 'free w' frees a permanent buffer");
  EXPECT_EQ(verifyText(mlp, "free u\n"), "V5: step 'free u' frees a buffer that the caller receives");
  EXPECT_EQ(verifyText(mlp, "free y\n"), "V5: step 'free y' comes before the buffer is produced");
  EXPECT_EQ(verifyText(mlp, "run linear\nfree y\nfree y\n"), "V5: step 'free y' is repeated");
  EXPECT_EQ(verifyText(mlp, "run linear\nstart reduce\nfree y\n"),
            "V5: step 'free y' comes while 'reduce' is in flight");
  EXPECT_EQ(verifyText(mlp, "run linear\nstart reduce\nfree z\n"),
            "V5: step 'free z' comes before the buffer is produced");
}

TEST(VerifyLifetimes, V6TemporariesAreFreed) {
  llvm::StringRef steps(mlpSteps);
  EXPECT_EQ(verifyText(mlp, steps.drop_back(llvm::StringRef("free v\n").size())), "V6: buffer 'v' is never freed");
}

TEST(VerifyLifetimes, FreesNameBuffersThatExist) {
  Problem problem = parse(mlp).problem;
  EXPECT_EQ(message(verifyLifetimes(problem, {{{StepKind::free, 6}}})), "V1: step 'free 6' names index 6 of 6");
}

TEST(VerifyLifetimes, AWaitIsForACollective) {
  EXPECT_EQ(verifyText(mlp, "wait linear\n"),
            "V1: step 'wait linear' is for asynchronous operations, this one runs on the compute lane");
}

TEST(VerifyLifetimes, AStartComesOnce) {
  EXPECT_EQ(verifyText(mlp, "run linear\nstart reduce\nstart reduce\n"), "V1: step 'start reduce' is repeated");
  EXPECT_EQ(verifyText(mlp, "run linear\nstart reduce\nwait reduce\nstart reduce\n"),
            "V1: step 'start reduce' is repeated");
}

TEST(VerifyLifetimes, ControlDependenciesCount) {
  std::string controlled = twoLanes + R"(operation gather on communication over tp reads x
operation a on compute reads x after gather
)";
  EXPECT_EQ(verifyText(controlled, "start gather\nrun a\n"), "V3: step 'run a' comes before 'gather' is over");
  EXPECT_EQ(verifyText(controlled, "start gather\nwait gather\nrun a\n"), "");
}

TEST(VerifyLifetimes, ABufferIsFreeOnlyWhenTheLastOfItsReadersIsOver) {
  std::string twice = twoLanes + R"(buffer y 1
operation make on compute reads x writes y
operation first on communication over tp reads y
operation second on communication over tp reads y
)";
  std::string head = "run make\nstart first\nstart second\nwait first\n";
  EXPECT_EQ(verifyText(twice, head + "free y\n"), "V5: step 'free y' comes while 'second' is in flight");
  EXPECT_EQ(verifyText(twice, head + "wait second\nfree y\n"), "");
}

TEST(VerifyLifetimes, AViewOutlivesTheNameOfItsStorage) {
  // mlpSteps frees z before its view is read; the view itself must still exist.
  EXPECT_EQ(verifyText(mlp, "run linear\nstart reduce\nwait reduce\nfree y\nrun reshape\nfree v\nrun project\n"),
            "V4: step 'run project' uses buffer 'v' after it was freed");
}

TEST(VerifyLifetimes, NoStepCanBeLeftOutOrDoubled) {
  for (unsigned seed = 0; seed < 200; ++seed) {
    Problem problem = randomProblem(seed);
    llvm::Expected<Solution> solved = programOrder(problem);
    ASSERT_TRUE(static_cast<bool>(solved)) << llvm::toString(solved.takeError());
    for (size_t at = 0; at < solved->steps.size(); ++at) {
      Solution shorter = *solved, longer = *solved;
      shorter.steps.erase(shorter.steps.begin() + at);
      longer.steps.insert(longer.steps.begin() + at, longer.steps[at]);
      std::string step = describe(problem, solved->steps[at]) + " of seed " + std::to_string(seed);
      EXPECT_NE(message(verifyLifetimes(problem, shorter)), "") << "without " << step;
      EXPECT_NE(message(verifyLifetimes(problem, longer)), "") << "twice " << step;
    }
  }
}
