//===- choices_test.cpp - merged collectives ------------------------------===//

#include "compiler/scheduling/choices.h"
#include "compiler/scheduling/memory_profile.h"
#include "compiler/scheduling/simulate.h"
#include "test/unit/scheduling/problem_fixture.h"

using namespace meshplan::scheduling;
using testing::ElementsAre;

/// Two gradients that are reduced, and a third one that depends on the first reduction.
static constexpr const char *gradients = R"(
lane compute
lane dp collectives
lane tp collectives
link wire 1000000000
communicator dp 0:(1)2
communicator tp 1:(1)2
buffer x 1 permanent
buffer a 10
buffer b 20
buffer ra 10 kept
buffer rb 20 kept
buffer rc 10 kept
operation make_a on compute duration 5 reads x writes a
operation sum_a on dp over dp latency 7 moves wire 10 reads a writes ra workspace 3
operation use_a on compute duration 1 reads ra
operation make_b on compute duration 5 reads x writes b
operation sum_b on dp over dp latency 8 moves wire 20 reads b writes rb
operation sum_c on dp over dp latency 8 reads ra writes rc
operation other on tp over tp reads x
mergeable gradients limit 30 sum_a bytes 10 time 1 workspace 20 sum_b bytes 20 time 2 workspace 40 sum_c bytes 0
)";

static Resolution resolved(std::vector<std::vector<unsigned>> merged) {
  llvm::Expected<Resolution> result = resolve(parse(gradients).problem, merged);
  EXPECT_TRUE(static_cast<bool>(result)) << llvm::toString(result.takeError());
  return std::move(*result);
}

static std::string refusal(std::vector<std::vector<unsigned>> merged) {
  Problem problem = parse(gradients).problem;
  EXPECT_EQ(message(problem.check()), "");
  return message(resolve(problem, merged).takeError());
}

TEST(Resolve, MergesIntoOne) {
  Resolution result = resolved({{1, 4}});
  EXPECT_EQ(message(result.problem.check()), "");
  EXPECT_THAT(result.members, ElementsAre(ElementsAre(0), ElementsAre(3), ElementsAre(1, 4), ElementsAre(2),
                                          ElementsAre(5), ElementsAre(6)));
  const Operation &both = result.problem.operations[2];
  EXPECT_EQ(both.name, "sum_a + sum_b");
  EXPECT_EQ(both.latency, 8 + 1 + 2);
  ASSERT_EQ(both.transfers.size(), 1u);
  EXPECT_EQ(both.transfers[0].bytes, 30);
  EXPECT_THAT(both.consumed, ElementsAre(1, 2));
  EXPECT_THAT(both.produced, ElementsAre(3, 4));
  EXPECT_THAT(both.workspace, ElementsAre(3 + 20 + 40));
}

TEST(Resolve, NothingMergedIsTheProblem) {
  Resolution result = resolved({});
  EXPECT_EQ(result.members.size(), 7u);
  EXPECT_EQ(result.problem.operations[4].name, "sum_b");
}

TEST(Resolve, V10WhatIsMergedMayBe) {
  EXPECT_EQ(refusal({{1}}),
            "V10: a list of merged operations has 1 of the problem's operations, must have two or more");
  EXPECT_EQ(refusal({{1, 6}}), "V10: 'sum_a + other' are not all members of 'gradients'");
  EXPECT_EQ(refusal({{0, 6}}), "V10: 'make_a + other' are not members of anything that may be merged");
  EXPECT_EQ(refusal({{1, 4}, {4, 5}}), "V10: 'sum_b' is merged twice");
  EXPECT_EQ(refusal({{1, 5}}), "V10: 'sum_a + sum_c' depend on each other, or on what depends on them");
  Problem problem = parse(gradients).problem;
  problem.mergeables[0].mostBytes = 29;
  EXPECT_EQ(message(resolve(problem, {{1, 4}}).takeError()),
            "V10: 'sum_a + sum_b' have 30 bytes, the limit of 'gradients' is 29");
}

TEST(Resolve, StepsNameTheMergedProblem) {
  ProblemText text = parse(std::string(gradients) + "memory_limit 200\n");
  Solution solution;
  solution.merged = {{1, 4}};
  for (auto [kind, index] : {std::pair(StepKind::run, 0),
                             {StepKind::run, 1},
                             {StepKind::start, 2},
                             {StepKind::wait, 2},
                             {StepKind::free, 1},
                             {StepKind::free, 2},
                             {StepKind::run, 3},
                             {StepKind::start, 4},
                             {StepKind::wait, 4},
                             {StepKind::start, 5},
                             {StepKind::wait, 5}})
    solution.steps.push_back({kind, static_cast<unsigned>(index)});
  EXPECT_EQ(message(verify(text.problem, solution)), "");
  Resolution result = resolved(solution.merged);
  EXPECT_EQ(simulate(result.problem, {solution.steps}).makespan, 5 + 5 + (8 + 3 + 30) + 1 + 8);
  // x, a, b, both results, workspace and buffers of packing.
  EXPECT_EQ(profileMemory(result.problem, {solution.steps}).peaks[0].bytes, 1 + 10 + 20 + 10 + 20 + 3 + 60);
  solution.merged = {{1, 6}};
  EXPECT_THAT(message(verify(text.problem, solution)), testing::StartsWith("V10: "));
}

TEST(Check, K10WhatMayBeMerged) {
  auto after = [](void (*change)(Problem &)) {
    Problem problem = parse(gradients).problem;
    change(problem);
    return message(problem.check());
  };
  EXPECT_EQ(after([](Problem &p) { p.mergeables[0].members[0].operation = 9; }),
            "K10: 'gradients' may not merge operation 9 of 7");
  EXPECT_EQ(after([](Problem &p) { p.mergeables[0].members[0].operation = 0; }),
            "K10: 'gradients' may not merge 'make_a', which is not a collective of one coordinate");
  EXPECT_EQ(after([](Problem &p) { p.mergeables[0].members[1].operation = 6; }),
            "K10: 'gradients' may not merge 'sum_a' and 'other', which are on different communicators");
  EXPECT_EQ(after([](Problem &p) { p.mergeables[0].members[1].operation = 1; }),
            "K10: 'gradients' may not merge 'sum_a', which is merged in another list or twice");
  EXPECT_EQ(after([](Problem &p) { p.mergeables[0].members[1].packTime = -1; }),
            "K10: 'gradients' may not merge 'sum_b' at negative costs, or without sizes for each rank class");
}
