//===- check_test.cpp - one failing problem for each rule K ---------------===//

#include "test/unit/scheduling/problem_fixture.h"

using namespace meshplan::scheduling;

TEST(Check, AcceptsAConsistentProblem) { EXPECT_EQ(message(parse(mlp).problem.check()), ""); }

TEST(Check, K1IndexOutOfRange) {
  Problem problem = parse(mlp).problem;
  problem.operations[0].stream = 7;
  EXPECT_EQ(message(problem.check()), "K1: operation 'linear' names stream 7 of 2");
  problem = parse(mlp).problem;
  problem.operations[1].communicator = 1;
  EXPECT_EQ(message(problem.check()), "K1: operation 'reduce' names communicator 1 of 1");
  problem = parse(mlp).problem;
  problem.operations[2].consumed = {9};
  EXPECT_EQ(message(problem.check()), "K1: operation 'reshape' names buffer 9 of 6");
  problem = parse(mlp).problem;
  problem.operations[3].after = {4};
  EXPECT_EQ(message(problem.check()), "K1: operation 'project' names operation 4 of 4");
}

TEST(Check, K2SizesForEachRankClass) {
  Problem problem = parse(mlp).problem;
  problem.rankClasses = 2;
  EXPECT_EQ(message(problem.check()), "K2: buffer 'w' has 1 sizes for 2 rank classes");
  problem = parse(mlp).problem;
  problem.buffers[2].bytes = {-1};
  EXPECT_EQ(message(problem.check()), "K2: buffer 'y' has the size -1");
  problem = parse(mlp).problem;
  problem.operations[0].workspace = {1, 2};
  EXPECT_EQ(message(problem.check()), "K2: workspace of operation 'linear' has 2 sizes for 1 rank classes");
  problem = parse(mlp).problem;
  problem.operations[0].duration = -4;
  EXPECT_EQ(message(problem.check()), "K2: operation 'linear' has the duration -4");
}

TEST(Check, K3OneProducer) {
  Problem problem = parse(mlp).problem;
  problem.operations[2].produced.push_back(2);
  EXPECT_EQ(message(problem.check()), "K3: buffer 'y' is produced by 'linear' and by 'reshape'");
  problem = parse(mlp).problem;
  problem.operations[2].produced.push_back(0);
  EXPECT_EQ(message(problem.check()), "K3: operation 'reshape' produces the permanent buffer 'w'");
  problem = parse(mlp).problem;
  problem.buffers[3].permanent = false;
  problem.operations[1].produced.clear();
  EXPECT_EQ(message(problem.check()), "K3: buffer 'z' is produced by no operation");
}

TEST(Check, K4DependenciesStandBefore) {
  Problem problem = parse(mlp).problem;
  std::swap(problem.operations[0], problem.operations[1]);
  EXPECT_EQ(message(problem.check()), "K4: operation 'reduce' stands before 'linear', on which it depends");
  problem = parse(mlp).problem;
  problem.operations[2].after = {2};
  EXPECT_EQ(message(problem.check()), "K4: operation 'reshape' stands before 'reshape', on which it depends");
}

TEST(Check, K5ViewsTakeNoBytes) {
  Problem problem = parse(mlp).problem;
  problem.buffers[4].bytes = {8};
  EXPECT_EQ(message(problem.check()), "K5: buffer 'v' is a view and has bytes of its own");
}

TEST(Check, K6ProducersReadWhatTheyView) {
  Problem problem = parse(mlp).problem;
  problem.buffers[4].viewOf = 2;
  EXPECT_EQ(message(problem.check()), "K6: operation 'reshape' makes the view 'v' of a buffer that it does not read");
  problem = parse(mlp).problem;
  problem.buffers[1].viewOf = 0;
  EXPECT_EQ(message(problem.check()), "K6: buffer 'x' is permanent and a view");
}

TEST(ProblemText, NamesTheLineOfAnError) {
  EXPECT_EQ(message(parseProblem("stream s\nbufer b 1\n").takeError()), "line 2: unknown statement 'bufer'");
  EXPECT_EQ(message(parseProblem("operation o on s\n").takeError()), "line 1: unknown name 's'");
  EXPECT_EQ(message(parseProblem("limit many\n").takeError()), "line 1: expected a number, not 'many'");
  EXPECT_EQ(message(parseProblem("stream s t\n").takeError()), "line 1: unexpected 't'");
  EXPECT_EQ(message(parseProblem("stream\n").takeError()), "line 1: unexpected end of line");
  EXPECT_EQ(message(parseProblem("communicator c tp\n").takeError()), "line 1: expected an axis such as 1:(1)3");
}
