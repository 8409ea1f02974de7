//===- solution_test.cpp - names of steps, all rules together -------------===//

#include "test/unit/scheduling/problem_fixture.h"

using namespace meshplan::scheduling;

TEST(Solution, AcceptsACorrectSolution) { EXPECT_EQ(verifyText(mlp, mlpSteps), ""); }

TEST(Solution, V7MemoryLimit) {
  // The peak consists of w, x, y and the workspace of `linear`, then w, x, y and z.
  std::string limited = std::string(mlp) + "limit 209\n";
  EXPECT_EQ(verifyText(limited, mlpSteps), "V7: rank class 0 holds 210 bytes at 'start reduce', the limit is 209");
  EXPECT_EQ(verifyText(std::string(mlp) + "limit 210\n", mlpSteps), "");
}

TEST(Solution, StepsAreNamedByVerbAndObject) {
  Problem problem = parse(mlp).problem;
  EXPECT_EQ(describe(problem, {StepKind::run, 0}), "run linear");
  EXPECT_EQ(describe(problem, {StepKind::start, 1}), "start reduce");
  EXPECT_EQ(describe(problem, {StepKind::wait, 1}), "wait reduce");
  EXPECT_EQ(describe(problem, {StepKind::free, 1}), "free x") << "a free names a buffer";
  EXPECT_EQ(describe(problem, {StepKind::wait, 4}), "wait 4") << "there is no such operation";
  EXPECT_EQ(describe(problem, {StepKind::free, 6}), "free 6");
}

TEST(Solution, NothingSolvesNothing) { EXPECT_EQ(message(verify(Problem(), Solution())), ""); }

TEST(Solution, LifetimesComeBeforeCollectivesAndMemory) {
  // A step that never runs cannot be in conflict, and has no bytes to count.
  std::string limited = std::string(mlp) + "limit 1\n";
  EXPECT_EQ(verifyText(limited, ""), "V1: operation 'linear' never runs");
}
