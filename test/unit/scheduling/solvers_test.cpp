//===- solvers_test.cpp - list and search ---------------------------------===//

#include "compiler/scheduling/algorithms.h"
#include "compiler/scheduling/choices.h"
#include "compiler/scheduling/memory_profile.h"
#include "compiler/scheduling/simulate.h"
#include "compiler/scheduling/solvers/list_order.h"
#include "compiler/scheduling/solvers/repeated_blocks.h"
#include "compiler/scheduling/solvers/walker.h"
#include "test/lib/problem/exact.h"
#include "test/lib/problem/generate.h"
#include "test/unit/scheduling/problem_fixture.h"
#include "test/unit/scheduling/random_problem.h"

using namespace meshplan::scheduling;
using testing::ElementsAre;

static int64_t makespanOf(const Problem &problem, const Solution &solution) {
  return simulate(llvm::cantFail(resolve(problem, solution.choices)).problem, {solution.steps}).makespan;
}

static Solution solved(llvm::StringRef name, const Problem &problem) {
  llvm::Expected<Solution> solution = findSolver(name)->solve(problem);
  if (!solution) {
    ADD_FAILURE() << llvm::toString(solution.takeError());
    return {};
  }
  EXPECT_EQ(message(verify(problem, *solution)), "");
  return std::move(*solution);
}

static std::string refusal(llvm::StringRef name, const std::string &text) {
  return message(findSolver(name)->solve(parse(text).problem).takeError());
}

/// Permanent buffers and the largest of what one operation after the other needs.
static ClassBytes serialPeak(Problem problem) {
  problem.splittables.clear();
  for (Operation &operation : problem.operations)
    operation.blocking = true;
  return {profileMemory(problem, llvm::cantFail(programOrder(problem))).peaks[0].bytes};
}

// `g1` begins the shorter chain, but all that the lane has to transfer waits for it.
TEST(Urgency, ACollectiveIsFollowedByWhatItsLaneHasLeft) {
  ProblemText text = parse(R"(
lane compute
lane dp collectives
link wire 1000000000
communicator dp 0:(1)2
buffer a 1
buffer b 1
buffer c 1
operation g1 on compute duration 10 writes a
operation g2 on compute duration 10 writes b
operation chain on compute duration 20 reads b writes c
operation r1 on dp over dp moves wire 50 reads a
operation r2 on dp over dp moves wire 50 reads c
)");
  CostTable costs(text.problem);
  DependencyTable dependencies(text.problem);
  std::vector<unsigned> reference{0, 1, 2, 3, 4};
  EXPECT_THAT(urgenciesOf(costs, dependencies, reference, {Urgency::criticalPath}),
              ElementsAre(-60, -80, -70, -50, -50));
  EXPECT_THAT(urgenciesOf(costs, dependencies, reference, {Urgency::lanes}), ElementsAre(-110, -80, -70, -100, -50));
}

TEST(Solvers, HaveNames) {
  EXPECT_EQ(namesOfSolvers(), "'program', 'list' and 'search'");
  EXPECT_EQ(findSolver("best"), nullptr);
}

// The exact solver itself: branch and bound against plain enumeration.
TEST(Exact, IsTheLeastOfAllLists) {
  unsigned found = 0;
  for (unsigned seed = 0; seed < 300; ++seed) {
    Problem problem = randomProblem(seed);
    if (problem.operations.size() > 5)
      continue;
    if (seed % 2)
      problem.memoryLimit = serialPeak(problem);
    for (Link &link : problem.links)
      link.sharedRate = seed % 3 == 0 ? 1000 : seed % 3 == 1 ? 1600 : 700;
    uint64_t nodes = 0;
    std::optional<int64_t> exact = exactMakespan(problem, 1'000'000, 1'000'000, nodes);
    EXPECT_EQ(exact, enumeratedMakespan(problem)) << "seed " << seed;
    ++found;
  }
  EXPECT_GT(found, 50u);
}

TEST(Solvers, SolveEveryConsistentProblemTheSameWayTwice) {
  unsigned split = 0;
  for (unsigned seed = 0; seed < 100; ++seed) {
    Problem problem = randomProblem(seed);
    if (seed % 3 == 0)
      problem = withSplittables(std::move(problem), seed);
    ASSERT_EQ(message(problem.check()), "");
    if (seed % 2)
      problem.memoryLimit = serialPeak(problem);
    for (std::string name : {"list", "search"}) {
      Solution first = solved(name, problem), second = solved(name, problem);
      EXPECT_EQ(first.steps, second.steps) << name << ", seed " << seed;
    }
    EXPECT_LE(makespanOf(problem, solved("search", problem)), makespanOf(problem, solved("list", problem)));
    split += solved("list", problem).choices.split.size();
  }
  EXPECT_GT(split, 0u);
}

// A gather of 6 bytes that starts at once leaves no room for `a`, which must run before the gather's result is used.
TEST(Solvers, AreNotStuckByWhatTheyStartEarly) {
  Problem problem = parse(R"(
lane compute
lane dp collectives
link wire 1000000000
communicator dp 0:(1)2
buffer w 2 permanent
buffer a 5
buffer b 1
buffer g 6
buffer z 1 kept
operation run_a on compute duration 10 reads w writes a
operation run_b on compute duration 10 reads a writes b
operation gather on dp over dp moves wire 10 reads w writes g
operation use on compute duration 10 reads b g writes z
memory_limit 12
)")
                        .problem;
  for (std::string name : {"list", "search"}) {
    Solution solution = solved(name, problem);
    EXPECT_EQ(makespanOf(problem, solution), 40) << name;
  }
  problem.memoryLimit = {14};
  for (std::string name : {"list", "search"})
    EXPECT_EQ(makespanOf(problem, solved(name, problem)), 30) << name << ": there is room for both";
}

TEST(Solvers, NameWhatDoesNotFit) {
  for (std::string name : {"list", "search"}) {
    EXPECT_EQ(refusal(name, std::string(mlp) + "memory_limit 209\n"),
              "V9: no order of the operations keeps to the memory limit of 209 bytes, must be at least 210, "
              "for x 100, y 50, z 50 and 1 more at 'reduce'")
        << name;
    EXPECT_THAT(refusal(name, "buffer y 1\n"), testing::StartsWith("K3: "));
  }
}

/// Checked by the exact solver, which shares nothing with what finds the number.
TEST(Solvers, NameTheLeastMemoryLimit) {
  static constexpr uint64_t mostNodes = 1'000'000;
  static constexpr int64_t anyTime = int64_t(1) << 40;
  unsigned decided = 0;
  for (unsigned seed = 0; seed < 12; ++seed) {
    Problem problem = randomOverlap(seed);
    problem.memoryLimit = {0};
    std::string text = message(list(problem).takeError());
    int64_t least = 0;
    ASSERT_FALSE(llvm::StringRef(text).split("at least ").second.consumeInteger(10, least)) << text;
    uint64_t nodes = 0, nodesBelow = 0;
    problem.memoryLimit = {least - 1};
    std::optional<int64_t> below = exactMakespan(problem, anyTime, mostNodes, nodesBelow);
    EXPECT_FALSE(below) << "seed " << seed << ": " << text;
    problem.memoryLimit = {least};
    EXPECT_TRUE(exactMakespan(problem, anyTime, mostNodes, nodes) || nodes >= mostNodes) << "seed " << seed;
    EXPECT_EQ(message(list(problem).takeError()), "") << "seed " << seed;
    decided += nodesBelow < mostNodes;
  }
  EXPECT_GE(decided, 9u);
}

/// Gradients of one size, each ready after 10 ns of computing, with a latency.
static Problem gradientSums(int64_t latency, int64_t packTime) {
  std::string text = R"(
lane compute
lane dp collectives
link wire 1000000000
communicator dp 0:(1)2
buffer x 1 permanent
)",
              mergeable = "mergeable gradients";
  for (std::string name : {"1", "2", "3", "4"}) {
    text += "buffer g" + name + " 4\nbuffer r" + name + " 4 kept\noperation make" + name +
            " on compute duration 10 reads x writes g" + name + "\noperation sum" + name + " on dp over dp latency " +
            std::to_string(latency) + " moves wire 4 reads g" + name + " writes r" + name + "\n";
    mergeable += " sum" + name + " bytes 4 packs " + std::to_string(packTime) + " 4 unpacks 0 4";
  }
  return parse(text + mergeable + "\n").problem;
}

TEST(Solvers, MergeWhatIsMostlyLatency) {
  // One by one, each takes 104: 10 + 4 * 104. All together: 40 + 100 + 16. The first alone, then the others: 10 + 104 +
  // 100 + 12.
  Problem problem = gradientSums(100, 0);
  for (const char *name : {"list", "search"}) {
    Solution solution = solved(name, problem);
    EXPECT_THAT(solution.choices.merged, ElementsAre(ElementsAre(1, 3, 5, 7))) << name;
    EXPECT_EQ(makespanOf(problem, solution), 156) << name;
  }
}

TEST(Solvers, DoNotMergeWhatOverlaps) {
  for (const char *name : {"list", "search"}) {
    EXPECT_THAT(solved(name, gradientSums(2, 0)).choices.merged, testing::IsEmpty()) << name;
    EXPECT_THAT(solved(name, gradientSums(100, 200)).choices.merged, testing::IsEmpty())
        << "copies cost more: " << name;
  }
}

TEST(Solvers, KeepToTheLimitOfMerging) {
  Problem problem = gradientSums(100, 0);
  problem.mergeables[0].mostBytes = 8;
  for (const char *name : {"program", "list", "search"}) {
    Solution solution = solved(name, problem);
    EXPECT_THAT(solution.choices.merged, ElementsAre(ElementsAre(1, 3), ElementsAre(5, 7))) << name;
  }
}

TEST(Program, MergesUpToTheLimit) {
  Problem problem = gradientSums(100, 1);
  EXPECT_THAT(solved("program", problem).choices.merged, testing::IsEmpty()) << "there is no limit";
  problem.mergeables[0].mostBytes = 12;
  EXPECT_THAT(solved("program", problem).choices.merged, ElementsAre(ElementsAre(1, 3, 5)));
  // The third sum depends on the first.
  problem.operations[4].after = {1};
  EXPECT_THAT(solved("program", problem).choices.merged, ElementsAre(ElementsAre(3, 5)));
}

TEST(List, DoesNotCopyWhatIsLargeToTravelWithSmallOnes) {
  // The second sum transfers for as long as many latencies.
  Problem problem = gradientSums(100, 0);
  problem.operations[3].transfers[0].bytes = 4000;
  EXPECT_THAT(solved("list", problem).choices.merged, ElementsAre(ElementsAre(1, 5, 7)));
}

// While nothing transfers, `grad_w` is run before the more urgent `grad_x`, because a long transfer waits for it. It
// needs `gather`, which is over soon. The long transfer then runs beside the chain:
//
//   urgent: dp                                [sum_w    ]    feeds: dp             [sum_w    ]
//           tp   [g]                  [sum_x]                       tp   [g]                        [sum_x]
//           comp [grad_x][next   ][grad_w]                          comp  [grad_w][grad_x][next    ]
TEST(List, FeedsIdleLanes) {
  ProblemText text = parse(R"(
lane compute
lane dp collectives
lane tp collectives
link wire 1000000000
communicator dp 0:(1)2
communicator tp 1:(1)2
buffer x 1 permanent
buffer g 1
buffer w 1
buffer dx 1
buffer n 1
operation gather on tp over tp moves wire 5 reads x writes g
operation grad_x on compute duration 40 reads x writes dx
operation grad_w on compute duration 40 reads g writes w
operation sum_w on dp over dp moves wire 100 reads w
operation next on compute duration 120 reads dx writes n
operation sum_x on tp over tp moves wire 60 reads n
)");
  CostTable costs(text.problem);
  DependencyTable dependencies(text.problem);
  std::vector<unsigned> reference = {0, 1, 2, 3, 4, 5};
  auto makespan = [&](ListRules rules) {
    std::vector<int64_t> urgency = urgenciesOf(costs, dependencies, reference, rules);
    return listOrder(text.problem, costs, dependencies, reference, urgency, rules).makespan;
  };
  // 40 + 120 + 40 of computing, then what is left of both transfers: 20 of sum_x, and 100.
  EXPECT_EQ(makespan({.urgency = Urgency::lanes}), 320);
  EXPECT_EQ(makespan({.urgency = Urgency::lanes, .feeds = true}), 5 + 40 + 40 + 120 + 60);
}

/// Products of 100 one after the other, each followed by a sum of 100 that the next one reads. Each of them may be
/// split with its sum into two or four parts, whose sums are joined.
static Problem productsWithSums(int64_t joinTime) {
  std::string text = R"(
lane compute
lane tp collectives
link wire 1000000000
communicator tp 0:(1)2
buffer z0 8 permanent
)",
              splits;
  for (int layer : {1, 2}) {
    std::string own = std::to_string(layer), before = std::to_string(layer - 1);
    text += "buffer y" + own + " 8\nbuffer z" + own + " 8" + (layer == 2 ? " kept" : "") + "\noperation product" + own +
            " on compute duration 100 reads z" + before + " writes y" + own + "\noperation sum" + own +
            " on tp over tp moves wire 100 reads y" + own + " writes z" + own + "\n";
    for (int parts : {2, 4})
      splits += "splittable of" + own + " parts " + std::to_string(parts) + " product" + own + " duration " +
                std::to_string(100 / parts) + " bytes " + std::to_string(8 / parts) + " sum" + own + " moves wire " +
                std::to_string(100 / parts) + " bytes " + std::to_string(8 / parts) + " joins " +
                std::to_string(joinTime) + "\n";
  }
  return parse(text + splits).problem;
}

TEST(Solvers, SplitWhatComputingWaitsFor) {
  // Whole: 2 * (100 + 100). In four parts: 2 * (100 + 25 + 1), because the sum of a part runs beside the next product.
  Problem problem = productsWithSums(1);
  EXPECT_EQ(makespanOf(problem, solved("program", problem)), 400);
  for (const char *name : {"list", "search"}) {
    Solution solution = solved(name, problem);
    EXPECT_THAT(solution.choices.split, ElementsAre(1, 3)) << name;
    EXPECT_EQ(makespanOf(problem, solution), 252) << name;
  }
}

TEST(Solvers, DoNotSplitWhatCostsMoreToJoin) {
  Problem problem = productsWithSums(80);
  for (const char *name : {"program", "list", "search"})
    EXPECT_THAT(solved(name, problem).choices.split, testing::IsEmpty()) << name;
}

TEST(Solvers, HideMostOfTheCommunicationOfATrainingStep) {
  Problem problem = trainingStep(4);
  Solution program = solved("program", problem);
  problem.memoryLimit = {profileMemory(problem, program).peaks[0].bytes};
  int64_t computing = simulate(problem, program).busy[0];
  int64_t before = makespanOf(problem, program) - computing;
  for (std::string name : {"list", "search"})
    EXPECT_LT(makespanOf(problem, solved(name, problem)) - computing, before / 2) << name;
}

TEST(RepeatedBlocks, AreThePeriods) {
  auto ends = [](llvm::ArrayRef<unsigned> kinds, size_t most) {
    std::vector<size_t> result;
    for (Block block : repeatedBlocks(kinds, most, 8))
      result.push_back(block.end);
    return result;
  };
  EXPECT_THAT(ends({9, 1, 2, 3, 1, 2, 3, 1, 2, 3, 8, 7}, 8), ElementsAre(1, 4, 7, 10, 12));
  EXPECT_THAT(ends({1, 2, 3, 4, 1, 2, 3, 4}, 2), ElementsAre(2, 4, 6, 8)) << "a block is half a period";
  EXPECT_THAT(ends({1, 2, 3, 4, 5}, 2), ElementsAre(1, 3, 5)) << "nothing repeats";
  EXPECT_THAT(ends({}, 2), testing::IsEmpty());
}

// The tracker of solvers against the profile of the verifier.
TEST(MemoryTracker, AgreesWithTheProfile) {
  for (unsigned seed = 0; seed < 300; ++seed) {
    Problem problem = randomProblem(seed);
    Solution solution = solved("program", problem);
    int64_t peak = profileMemory(problem, solution).peaks[0].bytes;
    for (int64_t limit : {peak, peak - 1}) {
      problem.memoryLimit = {limit};
      MemoryTracker tracker(problem);
      bool fits = true;
      for (Step step : solution.steps) {
        if (step.kind == StepKind::free)
          continue;
        if (step.kind != StepKind::wait) {
          fits &= tracker.fits(step.index);
          tracker.begin(step.index);
        }
        if (step.kind != StepKind::start)
          tracker.end(step.index);
      }
      EXPECT_EQ(fits, limit == peak) << "seed " << seed;
    }
  }
}
