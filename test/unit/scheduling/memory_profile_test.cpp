//===- memory_profile_test.cpp - peaks derived by hand --------------------===//

#include "compiler/scheduling/memory_profile.h"
#include "test/unit/scheduling/problem_fixture.h"

using namespace meshplan::scheduling;

static MemoryProfile profile(llvm::StringRef text) {
  ProblemText parsed = parse(text);
  EXPECT_EQ(message(verify(parsed.problem, parsed.solution.value_or(Solution()))), "");
  return profileMemory(parsed.problem, parsed.solution.value_or(Solution()));
}

TEST(MemoryProfile, CountsPermanentBuffersWithoutSteps) {
  MemoryProfile result = profile("rank_classes 2\nbuffer w 5 4 permanent\nbuffer x 7 7 permanent\n");
  EXPECT_THAT(result.permanent, testing::ElementsAre(12, 11));
  EXPECT_EQ(result.peaks[0].bytes, 12);
  EXPECT_EQ(result.peaks[1].bytes, 11);
}

TEST(MemoryProfile, NamesTheStepOfThePeak) {
  MemoryProfile result = profile(std::string(mlp) + mlpSteps);
  EXPECT_THAT(result.permanent, testing::ElementsAre(110));
  EXPECT_EQ(result.peaks[0].bytes, 210); // w, x, y and z while the all-reduce runs
  EXPECT_EQ(result.peaks[0].step, 1u);
}

TEST(MemoryProfile, WorkspaceIsHeldWhileAnOperationRuns) {
  MemoryProfile result = profile(R"(
stream compute
buffer x 10 permanent
buffer y 3
buffer z 4 kept
operation a on compute reads x writes y workspace 100
operation b on compute reads y writes z workspace 2
run a
run b
free y
)");
  EXPECT_EQ(result.peaks[0].bytes, 113);
  EXPECT_EQ(result.peaks[0].step, 0u);
}

TEST(MemoryProfile, TheCallerTakesWhatIsKept) {
  ProblemText parsed = parse(R"(
stream compute
buffer x 10 permanent
buffer y 3 kept
operation a on compute reads x writes y workspace 5
run a
)");
  parsed.problem.handover = {100};
  EXPECT_EQ(profileMemory(parsed.problem, *parsed.solution).peaks[0].bytes, 113);
  parsed.problem.handover = {-1};
  EXPECT_EQ(message(parsed.problem.check()), "K2: handover has the size -1");
}

TEST(MemoryProfile, WorkspaceOfACollectiveIsHeldUntilItsWait) {
  MemoryProfile result = profile(R"(
stream compute
stream communication
communicator tp 0:(1)2
buffer x 10 permanent
buffer y 3 kept
buffer z 4 kept
operation gather on communication over tp reads x writes y workspace 20
operation a on compute reads x writes z
start gather
run a
wait gather
)");
  EXPECT_EQ(result.peaks[0].bytes, 37);
  EXPECT_EQ(result.peaks[0].step, 1u);
}

TEST(MemoryProfile, StorageLivesAsLongAsItsViews) {
  const char *problem = R"(
stream compute
buffer x 10 permanent
buffer y 100
buffer v 0 view y
buffer w 0 view v
buffer a 1
buffer z 50 kept
operation make on compute reads x writes y
operation view on compute reads y writes v
operation again on compute reads v writes w
operation use on compute reads w writes a
operation last on compute reads a writes z
)";
  std::string early = std::string(problem) + "run make\nrun view\nfree y\nrun again\nfree v\nrun use\nfree w\n"
                                             "run last\nfree a\n";
  EXPECT_EQ(profile(early).peaks[0].bytes, 111);
  std::string late = std::string(problem) + "run make\nrun view\nfree y\nrun again\nfree v\nrun use\nrun last\n"
                                            "free w\nfree a\n";
  EXPECT_EQ(profile(late).peaks[0].bytes, 161);
}

TEST(MemoryProfile, AViewOfAPermanentBufferFreesNothing) {
  MemoryProfile result = profile(R"(
stream compute
buffer x 10 permanent
buffer v 0 view x
buffer z 5 kept
operation view on compute reads x writes v
operation use on compute reads v writes z
run view
run use
free v
)");
  EXPECT_EQ(result.peaks[0].bytes, 15);
}
