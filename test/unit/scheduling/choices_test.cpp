//===- choices_test.cpp - merged collectives ------------------------------===//

#include "compiler/scheduling/choices.h"
#include "compiler/scheduling/memory_profile.h"
#include "compiler/scheduling/simulate.h"
#include "test/unit/scheduling/problem_fixture.h"

using namespace meshplan::scheduling;
using testing::ElementsAre;

/// Two gradients that are reduced, and a third one that depends on the first reduction.
static constexpr const char *gradients =
    R"(
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
)"
    "mergeable gradients limit 30 copies 2 once wire 4 "
    "sum_a bytes 10 packs 1 10 unpacks 2 11 sum_b bytes 20 packs 0 20 unpacks 3 21 "
    "sum_c bytes 0 packs 0 0 unpacks 0 0\n";

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

TEST(Resolve, MergesIntoOneWithItsCopies) {
  Resolution result = resolved({{1, 4}});
  EXPECT_EQ(message(result.problem.check()), "");
  EXPECT_THAT(result.members, ElementsAre(ElementsAre(0), ElementsAre(3), ElementsAre(1, 4), ElementsAre(1, 4),
                                          ElementsAre(1, 4), ElementsAre(2), ElementsAre(5), ElementsAre(6)));
  const std::vector<Operation> &operations = result.problem.operations;
  const std::vector<Buffer> &buffers = result.problem.buffers;
  ASSERT_EQ(buffers.size(), 8u);
  EXPECT_EQ(buffers[6], (Buffer{.name = "sent of sum_a + sum_b", .bytes = {30}}));
  EXPECT_EQ(buffers[7], (Buffer{.name = "received of sum_a + sum_b", .bytes = {32}}));
  EXPECT_EQ(operations[2].name, "pack sum_a + sum_b");
  EXPECT_EQ(operations[2].copy, Copy::pack);
  EXPECT_EQ(operations[2].duration, 2) << "that of the smallest copy";
  EXPECT_THAT(operations[2].consumed, ElementsAre(1, 2));
  EXPECT_THAT(operations[2].produced, ElementsAre(6));
  EXPECT_EQ(operations[3].name, "sum_a + sum_b");
  EXPECT_EQ(operations[3].latency, 8);
  EXPECT_THAT(operations[3].transfers, ElementsAre(Transfer{0, 10 + 20 - 4}));
  EXPECT_THAT(operations[3].consumed, ElementsAre(6));
  EXPECT_THAT(operations[3].produced, ElementsAre(7));
  EXPECT_THAT(operations[3].workspace, ElementsAre(3));
  EXPECT_EQ(operations[4].copy, Copy::unpack);
  EXPECT_EQ(operations[4].duration, 2 + 3);
  EXPECT_THAT(operations[4].consumed, ElementsAre(7));
  EXPECT_THAT(operations[4].produced, ElementsAre(3, 4));
}

TEST(Resolve, WithoutCopiesReadsAndWritesTheTensors) {
  Problem problem = parse(gradients).problem;
  for (MergeMember &member : problem.mergeables[0].members)
    member.sent = member.received = {};
  Resolution result = llvm::cantFail(resolve(problem, {{1, 4}}));
  ASSERT_EQ(result.problem.operations.size(), 6u);
  EXPECT_THAT(result.problem.operations[2].consumed, ElementsAre(1, 2));
  EXPECT_THAT(result.problem.operations[2].produced, ElementsAre(3, 4));
}

TEST(Resolve, WhatComesAfterAMergedOneComesAfterItsReadsAndItsEnd) {
  Problem problem = parse(gradients).problem;
  problem.operations[6].after = {1};
  Resolution result = llvm::cantFail(resolve(problem, {{1, 4}}));
  EXPECT_THAT(result.problem.operations[7].after, ElementsAre(2, 4)) << "pack and unpack";
  EXPECT_EQ(message(result.problem.check()), "");
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
                             {StepKind::run, 2},
                             {StepKind::free, 1},
                             {StepKind::free, 2},
                             {StepKind::start, 3},
                             {StepKind::wait, 3},
                             {StepKind::free, 6},
                             {StepKind::run, 4},
                             {StepKind::free, 7},
                             {StepKind::run, 5},
                             {StepKind::start, 6},
                             {StepKind::wait, 6},
                             {StepKind::start, 7},
                             {StepKind::wait, 7}})
    solution.steps.push_back({kind, static_cast<unsigned>(index)});
  EXPECT_EQ(message(verify(text.problem, solution)), "");
  Resolution result = resolved(solution.merged);
  EXPECT_EQ(simulate(result.problem, {solution.steps}).makespan, 5 + 5 + 2 + (8 + 26) + 5 + 1 + 8);
  // x, what is sent and received, and the workspace.
  EXPECT_EQ(profileMemory(result.problem, {solution.steps}).peaks[0].bytes, 1 + 30 + 32 + 3);
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
            "K10: 'gradients' may not merge 'sum_b' at negative costs");
  std::string sizes = "K10: 'gradients' may not merge 'sum_a' and 'sum_b', which are copied with sizes for each rank "
                      "class both, or not at all";
  EXPECT_EQ(after([](Problem &p) { p.mergeables[0].members[1].sent = {}; }), sizes);
  EXPECT_EQ(after([](Problem &p) { p.mergeables[0].members[1].received = {1, 2}; }), sizes);
  EXPECT_EQ(after([](Problem &p) { p.mergeables[0].once = {{1, 4}}; }),
            "K10: 'gradients' may not merge at negative costs, or over links that do not exist");
  EXPECT_EQ(after([](Problem &p) { p.mergeables[0].leastCopyTime = -1; }),
            "K10: 'gradients' may not merge at negative costs, or over links that do not exist");
  EXPECT_EQ(after([](Problem &p) { p.operations[1].overwritten = {1}; }),
            "K10: 'gradients' may not merge 'sum_a', which overwrites a buffer");
}
