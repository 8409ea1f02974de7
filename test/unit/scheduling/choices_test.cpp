//===- choices_test.cpp - merged collectives and split operations ---------===//

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
  llvm::Expected<Resolution> result = resolve(parse(gradients).problem, {std::move(merged), {}});
  EXPECT_TRUE(static_cast<bool>(result)) << llvm::toString(result.takeError());
  return std::move(*result);
}

static std::string refusal(std::vector<std::vector<unsigned>> merged) {
  Problem problem = parse(gradients).problem;
  EXPECT_EQ(message(problem.check()), "");
  return message(resolve(problem, {std::move(merged), {}}).takeError());
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
  Resolution result = llvm::cantFail(resolve(problem, {{{1, 4}}, {}}));
  ASSERT_EQ(result.problem.operations.size(), 6u);
  EXPECT_THAT(result.problem.operations[2].consumed, ElementsAre(1, 2));
  EXPECT_THAT(result.problem.operations[2].produced, ElementsAre(3, 4));
}

TEST(Resolve, WhatComesAfterAMergedOneComesAfterItsReadsAndItsEnd) {
  Problem problem = parse(gradients).problem;
  problem.operations[6].after = {1};
  Resolution result = llvm::cantFail(resolve(problem, {{{1, 4}}, {}}));
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
  EXPECT_EQ(message(resolve(problem, {{{1, 4}}, {}}).takeError()),
            "V10: 'sum_a + sum_b' have 30 bytes, the limit of 'gradients' is 29");
}

TEST(Resolve, StepsNameTheMergedProblem) {
  ProblemText text = parse(std::string(gradients) + "memory_limit 200\n");
  Solution solution;
  solution.choices.merged = {{1, 4}};
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
  Resolution result = resolved(solution.choices.merged);
  EXPECT_EQ(simulate(result.problem, {solution.steps}).makespan, 5 + 5 + 2 + (8 + 26) + 5 + 1 + 8);
  // x, what is sent and received, and the workspace.
  EXPECT_EQ(profileMemory(result.problem, {solution.steps}).peaks[0].bytes, 1 + 30 + 32 + 3);
  solution.choices.merged = {{1, 6}};
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

/// A product whose sum others read, and a second one that only reads the sum; both may be split with it.
static constexpr const char *products =
    R"(
lane compute
lane tp collectives
link wire 1000000000
communicator tp 0:(1)2
buffer x 10 permanent
buffer y 20
buffer z 20
buffer w 40
buffer out 1 kept
operation product on compute duration 100 reads x writes y workspace 6
operation sum on tp over tp latency 4 moves wire 96 reads y writes z
operation next on compute duration 100 reads x z writes w
operation loss on compute duration 10 reads z w writes out
)"
    "splittable two parts 2 "
    "product duration 52 workspace 3 bytes 10 sum latency 4 moves wire 48 bytes 10 joins 7 "
    "next duration 51 bytes 20 joins 9\n"
    "splittable four parts 4 "
    "product duration 28 bytes 5 sum latency 4 moves wire 24 bytes 5 joins 7\n";

static Resolution split(std::vector<unsigned> chosen) {
  llvm::Expected<Resolution> result = resolve(parse(products).problem, {{}, std::move(chosen)});
  EXPECT_TRUE(static_cast<bool>(result)) << llvm::toString(result.takeError());
  EXPECT_EQ(message(result->problem.check()), "");
  return std::move(*result);
}

TEST(Resolve, SplitsIntoParts) {
  Resolution result = split({0});
  std::vector<std::string> names;
  for (const Operation &operation : result.problem.operations)
    names.push_back(operation.name);
  EXPECT_THAT(names, ElementsAre("product 1 of 2", "product 2 of 2", "sum 1 of 2", "sum 2 of 2", "join sum",
                                 "next 1 of 2", "next 2 of 2", "join next", "loss"));
  EXPECT_THAT(result.members,
              ElementsAre(ElementsAre(0), ElementsAre(0), ElementsAre(1), ElementsAre(1), ElementsAre(1),
                          ElementsAre(2), ElementsAre(2), ElementsAre(2), ElementsAre(3)));
  std::vector<std::optional<SplitPart>> splits = {{{0, 0, 0}}, {{0, 0, 1}}, {{0, 1, 0}},  {{0, 1, 1}}, {{0, 1, {}}},
                                                  {{0, 2, 0}}, {{0, 2, 1}}, {{0, 2, {}}}, std::nullopt};
  EXPECT_EQ(result.splits, splits);
  const std::vector<Operation> &operations = result.problem.operations;
  const std::vector<Buffer> &buffers = result.problem.buffers;
  // No operation reads y whole, so that its first part takes its place; z and w exist in parts and joined.
  ASSERT_EQ(buffers.size(), 10u);
  EXPECT_EQ(buffers[1].bytes, ClassBytes{10});
  EXPECT_EQ(buffers[5], (Buffer{.name = "y part 2", .bytes = {10}}));
  EXPECT_EQ(buffers[6], (Buffer{.name = "z part 1", .bytes = {10}}));
  EXPECT_EQ(buffers[9], (Buffer{.name = "w part 2", .bytes = {20}}));
  EXPECT_EQ(buffers[2].bytes, ClassBytes{20});
  EXPECT_EQ(operations[1].duration, 52);
  EXPECT_EQ(operations[1].workspace, ClassBytes{3});
  EXPECT_THAT(operations[1].consumed, ElementsAre(0));
  EXPECT_THAT(operations[1].produced, ElementsAre(5));
  EXPECT_THAT(operations[3].consumed, ElementsAre(5));
  EXPECT_THAT(operations[3].produced, ElementsAre(7));
  EXPECT_EQ(operations[3].transfers.front().bytes, 48);
  EXPECT_EQ(operations[4].copy, Copy::join);
  EXPECT_EQ(operations[4].duration, 7);
  EXPECT_THAT(operations[4].consumed, ElementsAre(6, 7));
  EXPECT_THAT(operations[4].produced, ElementsAre(2));
  EXPECT_THAT(operations[6].consumed, ElementsAre(0, 7));
  EXPECT_THAT(operations[8].consumed, ElementsAre(2, 3));
}

TEST(Resolve, APartReadsItsRowsAsAView) {
  Problem problem = parse(products).problem;
  problem.splittables[0].members[0].rows = {0};
  Resolution result = llvm::cantFail(resolve(problem, {{}, {0}}));
  EXPECT_EQ(message(result.problem.check()), "");
  const std::vector<Operation> &operations = result.problem.operations;
  EXPECT_EQ(operations[2].name, "rows 2 for product");
  EXPECT_EQ(operations[2].copy, Copy::rows);
  EXPECT_EQ(operations[2].duration, 0);
  EXPECT_EQ(result.splits[2], (SplitPart{0, 0, 1}));
  EXPECT_THAT(operations[2].consumed, ElementsAre(0));
  unsigned view = operations[2].produced.front();
  EXPECT_EQ(result.problem.buffers[view].viewOf, 0u);
  EXPECT_EQ(result.problem.buffers[view].bytes, ClassBytes{0});
  EXPECT_EQ(operations[3].name, "product 2 of 2");
  EXPECT_THAT(operations[3].consumed, ElementsAre(view));
  // The other product reads x whole.
  EXPECT_THAT(operations[8].consumed, ElementsAre(0, operations[5].produced.front()));
  problem.splittables[0].members[1].rows = {0};
  EXPECT_EQ(message(problem.check()), "K12: 'two' may not split 'sum' by rows of a buffer that it does not read");
}

TEST(Resolve, OperationsAfterASplitOneComeAfterAllParts) {
  Problem problem = parse(products).problem;
  problem.operations[3].after = {0, 2};
  Resolution result = llvm::cantFail(resolve(problem, {{}, {0}}));
  EXPECT_THAT(result.problem.operations[8].after, ElementsAre(0, 1, 5, 6, 7));
}

TEST(Resolve, SplitsWhatMergesHaveMoved) {
  std::string text =
      std::string(gradients) + "splittable halves parts 2 use_a duration 1 bytes 1 sum_c latency 1 bytes 5\n";
  Problem problem = parse(text).problem;
  problem.operations[2].produced = {static_cast<unsigned>(problem.buffers.size())};
  problem.buffers.push_back({.name = "used", .bytes = {2}});
  EXPECT_EQ(message(problem.check()), "");
  Resolution result = llvm::cantFail(resolve(problem, {{{1, 4}}, {0}}));
  EXPECT_EQ(message(result.problem.check()), "");
  EXPECT_THAT(result.members, ElementsAre(ElementsAre(0), ElementsAre(3), ElementsAre(1, 4), ElementsAre(1, 4),
                                          ElementsAre(1, 4), ElementsAre(2), ElementsAre(2), ElementsAre(5),
                                          ElementsAre(5), ElementsAre(5), ElementsAre(6)));
}

TEST(Resolve, V11WhatIsSplitMayBe) {
  Problem problem = parse(products).problem;
  auto refusal = [&](Choices choices) { return message(resolve(problem, choices).takeError()); };
  EXPECT_EQ(refusal({{}, {2}}), "V11: there is no split 2, only 2");
  EXPECT_EQ(refusal({{}, {0, 1}}), "V11: 'product' is split by 'two' and by 'four', can be split once");
  std::string text =
      std::string(gradients) + "splittable halves parts 2 make_a duration 1 bytes 1 sum_a latency 1 bytes 5\n";
  problem = parse(text).problem;
  EXPECT_EQ(refusal({{{1, 4}}, {0}}), "V11: 'sum_a' of 'halves' is merged, and cannot be split too");
}

TEST(Check, K12WhatMayBeSplit) {
  auto after = [](void (*change)(Problem &)) {
    Problem problem = parse(products).problem;
    change(problem);
    return message(problem.check());
  };
  EXPECT_EQ(after([](Problem &) {}), "");
  EXPECT_EQ(after([](Problem &p) { p.splittables[0].parts = 1; }),
            "K12: 'two' may not split into 1 parts, only into two or more");
  EXPECT_EQ(after([](Problem &p) { p.splittables[0].members[0].operation = 4; }),
            "K12: 'two' may not split operation 4 of 4: members are in the order of the problem");
  EXPECT_EQ(after([](Problem &p) { p.splittables[0].members[1].operation = 0; }),
            "K12: 'two' may not split operation 0 of 4: members are in the order of the problem");
  const char *kind = "', which is of several coordinates, blocking or prefetched";
  EXPECT_EQ(after([](Problem &p) { p.operations[1].blocking = true; }),
            std::string("K12: 'two' may not split 'sum") + kind);
  EXPECT_EQ(after([](Problem &p) { p.operations[1].prefetch = {1, 1}; }),
            std::string("K12: 'two' may not split 'sum") + kind);
  EXPECT_EQ(after([](Problem &p) { p.buffers[3] = {.name = "w", .bytes = {0}, .viewOf = 0}; }),
            "K12: 'two' may not split 'next', which must have one result of its own, and overwrite nothing");
  EXPECT_EQ(after([](Problem &p) { p.splittables[0].members[0].duration = -1; }),
            "K12: 'two' may not split 'product' at negative costs, or over links that do not exist");
  EXPECT_EQ(after([](Problem &p) { p.splittables[0].members[1].transfers[0].link = 1; }),
            "K12: 'two' may not split 'sum' at negative costs, or over links that do not exist");
  EXPECT_EQ(after([](Problem &p) { p.splittables[0].members[0].bytes.clear(); }),
            "K12: 'two' may not split 'product', whose parts must have a size for each rank class");
  EXPECT_EQ(after([](Problem &p) { p.splittables[0].members[1].duration = 1; }),
            "K12: 'two' may not split 'sum', whose parts have the costs of another lane");
  EXPECT_EQ(after([](Problem &p) { p.splittables[0].members.resize(1); }),
            "K12: 'two' may not split only computing or only what runs beside it, must split both");
}
