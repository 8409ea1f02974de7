//===- solution_test.cpp - names of steps, all rules together -------------===//

#include "test/unit/scheduling/problem_fixture.h"

using namespace meshplan::scheduling;

TEST(Solution, AcceptsACorrectSolution) { EXPECT_EQ(verifyText(mlp, mlpSteps), ""); }

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

TEST(Solution, LifetimesComeBeforeCollectives) {
  // A step that never runs cannot be in conflict.
  EXPECT_EQ(verifyText(mlp, ""), "V1: operation 'linear' never runs");
}
