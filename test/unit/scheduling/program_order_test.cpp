//===- program_order_test.cpp - a solution in program order ---------------===//

#include "compiler/scheduling/algorithms.h"
#include "compiler/scheduling/choices.h"
#include "test/unit/scheduling/problem_fixture.h"
#include "test/unit/scheduling/random_problem.h"

using namespace meshplan::scheduling;

/// The steps of the solution, comma separated, or the error.
static std::string solve(llvm::StringRef text) {
  Problem problem = parse(text).problem;
  llvm::Expected<Solution> solution = programOrder(problem);
  if (!solution)
    return llvm::toString(solution.takeError());
  std::string steps;
  problem = llvm::cantFail(resolve(problem, solution->choices)).problem;
  for (Step step : solution->steps)
    steps += (llvm::Twine(steps.empty() ? "" : ", ") + describe(problem, step)).str();
  return steps;
}

TEST(ProgramOrder, FreesAfterTheLastUse) {
  EXPECT_EQ(solve(mlp), "run linear, start reduce, wait reduce, free y, run reshape, free z, run project, free v");
}

TEST(ProgramOrder, ReportsABadProblem) {
  EXPECT_EQ(solve("buffer y 1\n"), "K3: buffer 'y' is produced by no operation");
}

TEST(ProgramOrder, FreesResultsThatNobodyUses) {
  EXPECT_EQ(solve(R"(
lane compute
buffer x 1 permanent
buffer y 1
operation a on compute reads x writes y
operation b on compute reads x
)"),
            "run a, free y, run b");
}

TEST(ProgramOrder, WaitsAtTheEndForOutputs) {
  EXPECT_EQ(solve(twoLanes + R"(buffer y 1
buffer z 1 kept
buffer u 1 kept
operation a on compute reads x writes y
operation gather on communication over tp reads y writes z
operation b on compute reads x writes u
)"),
            "run a, start gather, run b, wait gather, free y");
}

TEST(ProgramOrder, KeepsAGatherOfAParameterInPlace) {
  EXPECT_EQ(solve(R"(
lane compute
lane communication collectives
communicator dp 0:(1)2
buffer w 1 permanent
buffer x 1 permanent
buffer y 1
buffer g 4
buffer z 1 kept
operation a on compute reads x writes y
operation gather on communication over dp reads w writes g
operation b on compute reads y g writes z
)"),
            "run a, start gather, wait gather, run b, free y, free g");
}

// Hybrid sharding: a gradient is scattered inside a pod, and the shards are summed over pods. The program has both at
// its end.
TEST(ProgramOrder, SumsOverPodsWhereTheNextGradientIsScattered) {
  std::string text = R"(
lane compute
lane dp collectives
lane pod collectives
communicator dp 0:(1)2
communicator pod 0:(2)2
buffer x 1 permanent
)";
  for (std::string name : {"3", "2", "1"})
    text += "buffer g" + name + " 4\nbuffer r" + name + " 2\nbuffer z" + name + " 2 kept\n";
  for (std::string name : {"3", "2", "1"})
    text += "operation b" + name + " on compute reads x writes g" + name + "\n";
  for (std::string name : {"1", "2", "3"})
    text += "operation scatter" + name + " on dp over dp reads g" + name + " writes r" + name + "\noperation sum" +
            name + " on pod over pod reads r" + name + " writes z" + name + "\n";
  EXPECT_EQ(solve(text), "run b3, start scatter3, run b2, wait scatter3, free g3, start sum3, start scatter2, run b1, "
                         "wait scatter2, free g2, start sum2, start scatter1, wait scatter1, free g1, start sum1, "
                         "wait sum3, free r3, wait sum2, free r2, wait sum1, free r1");
}

// Gathers for the backward pass whose inputs the forward pass computes: each could start right after that.
TEST(ProgramOrder, StartsNoMoreThanTwoGathersBeforeTheyAreNeeded) {
  std::string text = twoLanes;
  for (std::string name : {"1", "2", "3", "4"})
    text += "buffer y" + name + " 1\nbuffer g" + name + " 4\n";
  for (std::string name : {"1", "2", "3", "4"})
    text += "operation a" + name + " on compute reads x writes y" + name + "\n";
  for (std::string name : {"4", "3", "2", "1"})
    text += "operation gather" + name + " on communication over tp reads y" + name + " writes g" + name +
            "\noperation b" + name + " on compute reads g" + name + "\n";
  EXPECT_EQ(
      solve(text),
      "run a1, run a2, run a3, start gather3, run a4, start gather4, start gather2, wait gather4, free y4, run b4, "
      "free g4, start gather1, wait gather3, free y3, run b3, free g3, wait gather2, free y2, run b2, free g2, "
      "wait gather1, free y1, run b1, free g1");
}

// Gradients that are reduced, and that the end of the program reads: without the waits all of them would be held.
TEST(ProgramOrder, HoldsNoMoreThanTwoOfTheLargestForReductions) {
  std::string text = twoLanes, uses;
  for (std::string name : {"1", "2", "3", "4"}) {
    std::string bytes = name == "3" ? "2" : "8";
    text += "buffer y" + name + " " + bytes + "\nbuffer r" + name + " 1 kept\n";
    uses += "operation a" + name + " on compute reads x writes y" + name + "\noperation sum" + name +
            " on communication over tp reads y" + name + " writes r" + name + "\n";
  }
  EXPECT_EQ(solve(text + uses),
            "run a1, start sum1, run a2, start sum2, run a3, wait sum1, free y1, start sum3, run a4, wait sum2, "
            "free y2, start sum4, wait sum3, free y3, wait sum4, free y4");
}

TEST(ProgramOrder, WaitsForNothingThatOthersHold) {
  std::string text = twoLanes + "buffer y 8\n", uses = "operation a on compute reads x writes y\n";
  for (std::string name : {"1", "2", "3"}) {
    text += "buffer r" + name + " 1 kept\n";
    uses += "operation sum" + name + " on communication over tp reads y writes r" + name + "\n";
  }
  EXPECT_EQ(solve(text + uses + "operation b on compute reads y\n"),
            "run a, start sum1, start sum2, start sum3, run b, wait sum1, wait sum2, wait sum3, free y");
}

TEST(ProgramOrder, StartsAChainOfCollectivesAtTheirPlaces) {
  EXPECT_EQ(solve(R"(
lane compute
lane communication collectives
communicator tp 1:(1)2
communicator dp 0:(1)2
buffer x 1 permanent
buffer y 1
buffer z 1
buffer u 1
buffer v 1 kept
operation a on compute reads x writes y
operation scatter on communication over tp reads y writes z
operation gather on communication over dp reads z writes u
operation b on compute reads u writes v
)"),
            "run a, start scatter, wait scatter, free y, start gather, wait gather, free z, run b, free u");
}

// Copies to the host start and are waited for as collectives do.
TEST(ProgramOrder, CopiesOverlap) {
  EXPECT_EQ(solve(R"(
lane compute
lane to_host copies
buffer x 1 permanent
buffer y 1
buffer h 1 kept host
buffer u 1 kept
operation a on compute reads x writes y
operation copy on to_host reads y writes h
operation b on compute reads x writes u
)"),
            "run a, start copy, run b, wait copy, free y");
}

TEST(ProgramOrder, ReportsALimitThatItExceeds) {
  EXPECT_EQ(solve(std::string(mlp) + "memory_limit 200\n"),
            "V9: a rank of class 0 holds 210 bytes at step 'start reduce', the limit is 200: x 100, y 50, z 50 and 1 "
            "more at 'reduce'");
}

TEST(ProgramOrder, HonoursControlDependencies) {
  EXPECT_EQ(solve(twoLanes + R"(buffer y 1 kept
operation gather on communication over tp reads x writes y
operation a on compute reads x after gather
)"),
            "start gather, wait gather, run a");
}

TEST(ProgramOrder, SolvesNothing) { EXPECT_EQ(solve(""), ""); }

TEST(ProgramOrder, StartsWhatPermanentBuffersFeedAtItsPlace) {
  EXPECT_EQ(solve(twoLanes + R"(buffer y 1
operation gather on communication over tp reads x writes y
)"),
            "start gather, wait gather, free y");
}

/// Parameters of three units, which are read one after the other; the second again in the end, as in a backward pass.
static std::string units(const std::string &ahead) {
  return R"(
lane compute
lane communication collectives
communicator dp 0:(1)2
buffer x 1 permanent
buffer a 1 permanent
buffer b 1 permanent
buffer c 1 permanent
buffer ga 2
buffer gb 2
buffer gc 2
buffer again 2
operation gather_a on communication over dp reads a writes ga prefetch 0 )" +
         ahead + R"(
operation a1 on compute reads ga
operation a2 on compute reads ga
operation gather_b on communication over dp reads b writes gb prefetch 1 )" +
         ahead + R"(
operation b1 on compute reads gb
operation gather_c on communication over dp reads c writes gc prefetch 2 )" +
         ahead + R"(
operation c1 on compute reads gc
operation c2 on compute reads gc
operation gather_again on communication over dp reads b writes again prefetch 3 )" +
         ahead + R"(
operation b2 on compute reads again
)";
}

TEST(ProgramOrder, GathersUnitsAheadOfTheirReaders) {
  EXPECT_EQ(solve(units("0")), "start gather_a, wait gather_a, run a1, run a2, free ga, start gather_b, wait gather_b, "
                               "run b1, free gb, start gather_c, wait gather_c, run c1, run c2, free gc, "
                               "start gather_again, wait gather_again, run b2, free again");
  EXPECT_EQ(solve(units("1")), "start gather_a, start gather_b, wait gather_a, run a1, run a2, free ga, "
                               "start gather_c, wait gather_b, run b1, free gb, start gather_again, wait gather_c, "
                               "run c1, run c2, free gc, wait gather_again, run b2, free again");
  EXPECT_EQ(solve(units("2")), "start gather_a, start gather_b, start gather_c, wait gather_a, run a1, run a2, "
                               "free ga, start gather_again, wait gather_b, run b1, free gb, wait gather_c, run c1, "
                               "run c2, free gc, wait gather_again, run b2, free again");
}

TEST(ProgramOrder, GathersAheadWithWhatTheGatherNeeds) {
  // A unit of two gathers: of a converted parameter, and of one that is copied to the device before.
  EXPECT_EQ(solve(R"(
lane compute
lane communication collectives
lane bus copies
communicator dp 0:(1)2
buffer a 1 permanent
buffer b 1 permanent
buffer c 1 permanent host
buffer ga 2
buffer h 1
buffer gh 2
buffer d 1
buffer gd 2
operation gather_a on communication over dp reads a writes ga prefetch 0 1
operation first on compute reads ga
operation second on compute reads ga
operation convert on compute reads b writes h
operation gather_b on communication over dp reads h writes gh prefetch 1 1
operation copy on bus reads c writes d
operation gather_c on communication over dp reads d writes gd prefetch 1 1
operation third on compute reads gh
operation fourth on compute reads gd
)"),
            "start gather_a, run convert, start gather_b, start copy, wait copy, start gather_c, wait gather_a, "
            "run first, run second, free ga, wait gather_b, free h, run third, free gh, wait gather_c, free d, "
            "run fourth, free gd");
}

TEST(ProgramOrder, GathersWhatIsMergedAhead) {
  // What is copied out of a buffer is first read by those that read the copies.
  std::string merged = solve(R"(
lane compute
lane communication collectives
communicator dp 0:(1)2
buffer a 1 permanent
buffer b 1 permanent
buffer c 1 permanent
buffer ga 2
buffer gb 2
buffer gc 2
operation gather_a on communication over dp reads a writes ga prefetch 0 1
operation gather_b on communication over dp reads b writes gb prefetch 0 1
operation first on compute reads ga
operation second on compute reads gb
operation gather_c on communication over dp reads c writes gc prefetch 1 1
operation third on compute reads gc
mergeable gathers limit 4 gather_a bytes 2 packs 0 1 unpacks 0 2 gather_b bytes 2 packs 0 1 unpacks 0 2
)");
  std::string both = "gather_a + gather_b";
  EXPECT_EQ(merged, "run pack " + both + ", start " + both + ", start gather_c, wait " + both + ", free sent of " +
                        both + ", run unpack " + both + ", free received of " + both +
                        ", run first, free ga, run second, free gb, wait gather_c, run third, free gc");
}

TEST(ProgramOrder, SolvesEveryConsistentProblem) {
  for (unsigned seed = 0; seed < 500; ++seed) {
    Problem problem = randomProblem(seed);
    ASSERT_EQ(message(problem.check()), "") << "seed " << seed;
    llvm::Expected<Solution> solution = programOrder(problem);
    ASSERT_TRUE(static_cast<bool>(solution)) << "seed " << seed << ": " << llvm::toString(solution.takeError());
    // Other operations keep their order, and every buffer is freed right after the last step that names it.
    std::vector<unsigned> ran;
    std::vector<std::optional<size_t>> lastUse(problem.buffers.size());
    for (auto [at, step] : llvm::enumerate(solution->steps)) {
      if (step.kind == StepKind::free) {
        ASSERT_TRUE(lastUse[step.index]) << "seed " << seed;
        for (size_t between = *lastUse[step.index] + 1; between < at; ++between)
          EXPECT_EQ(solution->steps[between].kind, StepKind::free) << "seed " << seed;
        continue;
      }
      if (step.kind == StepKind::run)
        ran.push_back(step.index);
      for (unsigned buffer : problem.operations[step.index].consumed)
        lastUse[buffer] = at;
      for (unsigned buffer : problem.operations[step.index].produced)
        lastUse[buffer] = at;
    }
    EXPECT_TRUE(llvm::is_sorted(ran)) << "seed " << seed;
  }
}

TEST(ProgramOrder, WaitsForWhatIsBlockingWhereItStarts) {
  Problem problem = parse(twoLanes + R"(buffer y 1
buffer z 1 kept
buffer u 1 kept
operation a on compute reads x writes y
operation gather on communication over tp reads y writes z
operation b on compute reads x writes u
)")
                        .problem;
  problem.operations[1].blocking = true;
  llvm::Expected<Solution> solution = programOrder(problem);
  ASSERT_TRUE(bool(solution));
  std::string steps;
  for (Step step : solution->steps)
    steps += describe(problem, step) + "; ";
  EXPECT_EQ(steps, "run a; start gather; wait gather; free y; run b; ");
}
