//===- program_order_test.cpp - the order in which a program is written ---===//

#include "compiler/scheduling/algorithms.h"
#include "test/unit/scheduling/problem_fixture.h"

using namespace meshplan::scheduling;

/// The steps of the solution, comma separated, or the error.
static std::string solve(llvm::StringRef text) {
  Problem problem = parse(text).problem;
  llvm::Expected<Solution> solution = programOrder(problem);
  if (!solution)
    return llvm::toString(solution.takeError());
  std::string steps;
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

TEST(ProgramOrder, ReportsAMemoryLimitThatItCannotKeep) {
  EXPECT_EQ(solve(std::string(mlp) + "limit 100\n"),
            "V7: rank class 0 holds 210 bytes at 'start reduce', the limit is 100");
}

TEST(ProgramOrder, FreesResultsThatNobodyUses) {
  EXPECT_EQ(solve(R"(
stream compute
buffer x 1 permanent
buffer y 1
operation a on compute reads x writes y
operation b on compute reads x
)"),
            "run a, free y, run b");
}

TEST(ProgramOrder, WaitsAtTheEndForOutputs) {
  EXPECT_EQ(solve(R"(
stream compute
stream communication
communicator tp 0:(1)2
buffer x 1 permanent
buffer y 1
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
stream compute
stream communication
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

TEST(ProgramOrder, StartsAChainOfCollectivesAtTheirPlaces) {
  EXPECT_EQ(solve(R"(
stream compute
stream communication
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

TEST(ProgramOrder, SerializesCollectivesInConflict) {
  EXPECT_EQ(solve(R"(
stream compute
stream one
stream two
communicator tp 1:(1)2
communicator world 0:(1)2 1:(1)2
buffer x 1 permanent
buffer y 1 kept
buffer z 1 kept
operation first on one over tp reads x writes y
operation second on two over world reads x writes z
)"),
            "start first, wait first, start second, wait second");
}

TEST(ProgramOrder, HonoursControlDependencies) {
  EXPECT_EQ(solve(R"(
stream compute
stream communication
communicator tp 0:(1)2
buffer x 1 permanent
buffer y 1 kept
operation gather on communication over tp reads x writes y
operation a on compute reads x after gather
)"),
            "start gather, wait gather, run a");
}
