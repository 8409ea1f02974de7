//===- problem_test.cpp - a failing problem for each rule; queries --------===//

#include "test/unit/scheduling/problem_fixture.h"

using namespace meshplan::scheduling;

/// The result of check() for the problem of two layers after a change.
static std::string checkAfter(void (*change)(Problem &)) {
  Problem problem = parse(mlp).problem;
  change(problem);
  return message(problem.check());
}

TEST(Check, AcceptsAConsistentProblem) { EXPECT_EQ(message(parse(mlp).problem.check()), ""); }

TEST(Check, K1IndexOutOfRange) {
  EXPECT_EQ(checkAfter([](Problem &p) { p.operations[0].lane = 7; }), "K1: operation 'linear' names lane 7 of 2");
  EXPECT_EQ(checkAfter([](Problem &p) { p.operations[1].transfers = {{0, 1}}; }),
            "K1: operation 'reduce' names link 0 of 0");
  EXPECT_EQ(checkAfter([](Problem &p) { p.operations[1].communicator = 1; }),
            "K1: operation 'reduce' names communicator 1 of 1");
  EXPECT_EQ(checkAfter([](Problem &p) { p.operations[2].consumed = {9}; }),
            "K1: operation 'reshape' names buffer 9 of 6");
  EXPECT_EQ(checkAfter([](Problem &p) { p.operations[3].after = {4}; }),
            "K1: operation 'project' names operation 4 of 4");
}

TEST(Check, K2SizesForEachRankClass) {
  EXPECT_EQ(checkAfter([](Problem &p) { p.rankClasses = 2; }), "K2: buffer 'w' has 1 sizes for 2 rank classes");
  EXPECT_EQ(checkAfter([](Problem &p) { p.buffers[2].bytes = {-1}; }), "K2: buffer 'y' has the size -1");
  EXPECT_EQ(checkAfter([](Problem &p) { p.operations[0].workspace = {1, 2}; }),
            "K2: workspace of operation 'linear' has 2 sizes for 1 rank classes");
  EXPECT_EQ(checkAfter([](Problem &p) { p.memoryLimit = {1, 2}; }), "K2: memory limit has 2 sizes for 1 rank classes");
}

TEST(Check, K2TimesAndRates) {
  EXPECT_EQ(checkAfter([](Problem &p) { p.operations[0].duration = -4; }),
            "K2: operation 'linear' has the duration -4, must be 0 to 1800000000000");
  EXPECT_EQ(checkAfter([](Problem &p) { p.operations[1].latency = -4; }),
            "K2: operation 'reduce' has the latency -4, must be 0 to 1800000000000");
  EXPECT_EQ(checkAfter([](Problem &p) { p.links = {{"wire", 0}}; }),
            "K2: link 'wire' has the rate 0, must be 1 to 1000000000000000000");
  EXPECT_EQ(checkAfter([](Problem &p) {
              p.links = {{"wire", 1}};
              p.operations[1].transfers = {{0, 1801}};
            }),
            "K2: operation 'reduce' has a transfer time of 1801000000000, must be 0 to 1800000000000");
  EXPECT_EQ(checkAfter([](Problem &p) {
              p.links = {{"wire", 1}};
              p.operations[1].transfers = {{0, -1}};
            }),
            "K2: operation 'reduce' has a transfer of -1, must be 0 to 1000000000000000000");
  EXPECT_EQ(checkAfter([](Problem &p) { p.links = {{"wire", 1, 0}}; }),
            "K2: link 'wire' has the shared rate 0, must be 1 to 1000000");
  EXPECT_EQ(checkAfter([](Problem &p) { p.overlapSpeed.compute = 0; }),
            "K2: the speed of overlapped computing is 0, must be 1 to 1000");
  EXPECT_EQ(checkAfter([](Problem &p) { p.overlapSpeed.transfer = 1001; }),
            "K2: the speed of overlapped transfers is 1001, must be 1 to 1000");
  EXPECT_EQ(checkAfter([](Problem &p) { p.issueTime = -1; }),
            "K2: the time to issue is -1, must be 0 to 1800000000000");
}

TEST(Check, K8LanesOfCommunicators) {
  EXPECT_EQ(checkAfter([](Problem &p) { p.operations[1].lane = 0; }),
            "K8: operation 'reduce' is a collective, its lane 'compute' is not one of collectives");
  EXPECT_EQ(checkAfter([](Problem &p) { p.operations[0].lane = 1; }),
            "K8: operation 'linear' is not a collective, its lane 'communication' is one of collectives");
  EXPECT_EQ(checkAfter([](Problem &p) { p.lanes.push_back({"more"}); }), "K8: lanes 'compute' and 'more' both compute");
  EXPECT_EQ(checkAfter([](Problem &p) {
              p.lanes.push_back({"other", LaneKind::collectives});
              p.operations.push_back(p.operations[1]);
              p.operations.back().name = "again";
              p.operations.back().produced.clear();
              p.operations.back().lane = 2;
            }),
            "K8: 'reduce' and 'again' are on lanes 'communication' and 'other', both on communicator 'tp'");
}

TEST(Check, K9CostsOfTheLane) {
  EXPECT_EQ(checkAfter([](Problem &p) { p.operations[1].duration = 3; }),
            "K9: operation 'reduce' is on lane 'communication' and has a duration, must have transfers");
  EXPECT_EQ(checkAfter([](Problem &p) { p.operations[0].latency = 3; }),
            "K9: operation 'linear' computes and has a latency or transfers, must have a duration");
  EXPECT_EQ(checkAfter([](Problem &p) { p.operations[0].instances = {{"forward", {1}}}; }),
            "K9: operation 'linear' computes and takes part in 'forward' of other coordinates");
}

TEST(Check, K3OneProducer) {
  EXPECT_EQ(checkAfter([](Problem &p) { p.operations[2].produced.push_back(2); }),
            "K3: buffer 'y' is produced by 'linear' and by 'reshape'");
  EXPECT_EQ(checkAfter([](Problem &p) { p.operations[2].produced.push_back(0); }),
            "K3: operation 'reshape' produces the permanent buffer 'w'");
  EXPECT_EQ(checkAfter([](Problem &p) {
              p.buffers[3].permanent = false;
              p.operations[1].produced.clear();
            }),
            "K3: buffer 'z' is produced by no operation");
}

TEST(Check, K4DependenciesStandBefore) {
  EXPECT_EQ(checkAfter([](Problem &p) { std::swap(p.operations[0], p.operations[1]); }),
            "K4: operation 'reduce' comes before 'linear', on which it depends");
  EXPECT_EQ(checkAfter([](Problem &p) { p.operations[2].after = {2}; }),
            "K4: operation 'reshape' comes before 'reshape', on which it depends");
}

/// A parameter that one operation reads, another updates and a third reads after that.
static std::string checkStep(const std::string &operations) {
  return message(parse(R"(lane compute
buffer w 8 permanent
buffer v 0 view w
buffer y 8
buffer w2 0 view w
buffer v2 0 view w2
buffer z 8
)" + operations)
                     .problem.check());
}

TEST(Check, K7WhatIsOverwrittenIsReadBefore) {
  std::string before = "operation turn on compute reads w writes v\noperation use on compute reads v writes y\n";
  std::string behind = "operation again on compute reads w2 writes v2\noperation last on compute reads v2 writes z\n";
  EXPECT_EQ(checkStep(before + "operation step on compute reads w y writes w2 overwrites w after turn use\n" + behind),
            "");
  EXPECT_EQ(checkStep(before + "operation step on compute reads w y writes w2 overwrites w after turn\n" + behind),
            "K7: operation 'step' overwrites buffer 'w' and does not come after 'use', which reads it");
  EXPECT_EQ(checkStep(before +
                      "operation step on compute reads w y writes w2 overwrites w after turn use\n"
                      "operation again on compute reads w2 w writes v2\noperation last on compute reads y writes z\n"),
            "K7: operation 'step' overwrites buffer 'w' and does not come after 'again', which reads it");
  EXPECT_EQ(checkStep(before + "operation step on compute reads w writes w2 overwrites y after turn use\n" + behind),
            "K7: operation 'step' overwrites a buffer that it does not read");
}

TEST(Check, K5ViewsTakeNoBytes) {
  EXPECT_EQ(checkAfter([](Problem &p) { p.buffers[4].bytes = {8}; }),
            "K5: buffer 'v' is a view and has bytes of its own");
}

TEST(Check, K6ProducersReadWhatTheyView) {
  EXPECT_EQ(checkAfter([](Problem &p) { p.buffers[4].viewOf = 2; }),
            "K6: operation 'reshape' produces the view 'v' of a buffer that it does not read");
  EXPECT_EQ(checkAfter([](Problem &p) { p.buffers[1].viewOf = 0; }), "K6: buffer 'x' is permanent and a view");
}

TEST(ProblemText, NamesTheLineOfAnError) {
  EXPECT_EQ(message(parseProblem("lane s\nbufer b 1\n").takeError()), "line 2: unknown statement 'bufer'");
  EXPECT_EQ(message(parseProblem("operation o on s\n").takeError()), "line 1: unknown name 's'");
  EXPECT_EQ(message(parseProblem("rank_classes many\n").takeError()), "line 1: expected a number, not 'many'");
  EXPECT_EQ(message(parseProblem("lane s t\n").takeError()), "line 1: unexpected 't'");
  EXPECT_EQ(message(parseProblem("lane\n").takeError()), "line 1: unexpected end of line");
  EXPECT_EQ(message(parseProblem("communicator c tp\n").takeError()), "line 1: expected an axis such as 1:(1)3");
}

TEST(Check, AcceptsNothingAtAll) { EXPECT_EQ(message(Problem().check()), ""); }

TEST(Check, AcceptsAnOperationWithoutBuffers) {
  EXPECT_EQ(message(parse("lane s\noperation a on s\noperation b on s after a\n").problem.check()), "");
}

TEST(Check, NamesTheFirstRuleThatIsBroken) {
  // A wrong index would make all later rules read out of bounds.
  EXPECT_EQ(checkAfter([](Problem &p) {
              p.operations[0].produced = {9};
              p.buffers[0].bytes = {-1};
            }),
            "K1: operation 'linear' names buffer 9 of 6");
}

TEST(Problem, KnowsWhatProducesABuffer) {
  Problem problem = parse(mlp).problem;
  EXPECT_THAT(problem.producers(), testing::ElementsAre(std::nullopt, std::nullopt, 0, 1, 2, 3));
  EXPECT_THAT(Problem().producers(), testing::IsEmpty());
}

TEST(Problem, StorageIsThatOfTheFirstOfAChainOfViews) {
  Problem problem = parse(R"(
lane s
buffer x 4 permanent
buffer y 8
buffer v 0 view y
buffer u 0 view v
buffer p 0 view x
operation a on s reads x writes y
operation b on s reads y writes v
operation c on s reads v writes u
operation d on s reads x writes p
)")
                        .problem;
  ASSERT_EQ(message(problem.check()), "");
  for (auto [buffer, storage] : {std::pair(0, 0), {1, 1}, {2, 1}, {3, 1}, {4, 0}})
    EXPECT_EQ(problem.storageOf(buffer), static_cast<unsigned>(storage)) << problem.buffers[buffer].name;
}

TEST(Problem, DependsOnProducersAndOnWhatItIsAfter) {
  Problem problem = parse(mlp).problem;
  problem.operations[3].after = {0, 1};
  auto dependencies = [&](unsigned index) {
    std::vector<unsigned> others;
    problem.forEachDependency(problem.operations[index], problem.producers(),
                              [&](unsigned other) { others.push_back(other); });
    return others;
  };
  EXPECT_THAT(dependencies(0), testing::IsEmpty()) << "permanent buffers are there";
  EXPECT_THAT(dependencies(1), testing::ElementsAre(0));
  EXPECT_THAT(dependencies(3), testing::ElementsAre(2, 0, 1));
}

/// A gather of what is packed, changed.
static std::string checkCopies(void (*change)(Problem &)) {
  Problem problem = parse(R"(lane compute
lane communication collectives
communicator tp 0:(1)2
buffer x 8 permanent
buffer sent 8
buffer received 16
buffer y 16 kept
operation pack on compute reads x writes sent packs
operation gather on communication over tp reads sent writes received
operation unpack on compute reads received writes y unpacks
)")
                        .problem;
  change(problem);
  return message(problem.check());
}

TEST(Check, K11CopiesServeACollective) {
  EXPECT_EQ(checkCopies([](Problem &) {}), "");
  const std::string packs = "K11: operation 'pack' copies for no collective",
                    unpacks = "K11: operation 'unpack' copies for no collective";
  EXPECT_EQ(checkCopies([](Problem &p) { p.operations[1].communicator = std::nullopt, p.operations[1].lane = 0; }),
            packs);
  EXPECT_EQ(checkCopies([](Problem &p) { p.operations[2].consumed.push_back(1); }), packs) << "two readers";
  EXPECT_EQ(checkCopies([](Problem &p) { p.operations[2].consumed = {0}; }), unpacks) << "of a weight";
  EXPECT_EQ(checkCopies([](Problem &p) { p.operations[2].communicator = 0, p.operations[2].lane = 1; }), unpacks)
      << "is one itself";
}
