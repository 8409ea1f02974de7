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
lane compute
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

TEST(MemoryProfile, DeviceAndHostAreCountedApart) {
  ProblemText parsed = parse(R"(
lane compute
buffer w 10 permanent
buffer m 40 permanent host
buffer g 3
buffer h 5 host
buffer n 0 view m kept host
operation backward on compute reads w writes g workspace 20
operation copy on compute reads g writes h workspace 1 host
operation change on compute reads h m writes n overwrites m workspace 7 host
run backward
run copy
free g
run change
free h
)");
  EXPECT_EQ(message(verify(parsed.problem, *parsed.solution)), "");
  parsed.problem.handover = {2};
  MemoryProfile device = profileMemory(parsed.problem, *parsed.solution);
  EXPECT_THAT(device.permanent, testing::ElementsAre(10));
  EXPECT_EQ(device.peaks[0].bytes, 10 + 3 + 20);
  MemoryProfile host = profileMemory(parsed.problem, *parsed.solution, Memory::host);
  EXPECT_THAT(host.permanent, testing::ElementsAre(40));
  EXPECT_EQ(host.peaks[0].bytes, 40 + 5 + 7);
  EXPECT_EQ(host.peaks[0].step, 3u);
}

TEST(MemoryProfile, TheCallerTakesWhatIsKept) {
  ProblemText parsed = parse(R"(
lane compute
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
lane compute
lane communication collectives
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

TEST(MemoryProfile, WhatIsPackedIsFreedBeforeWhatArrivesIsUnpacked) {
  // 8 bytes are sent and 12 received, which are unpacked to y.
  std::string problem = R"(
lane compute
lane communication collectives
communicator tp 0:(1)2
buffer x 10 permanent
buffer sent 8
buffer received 12
buffer y 12 kept
buffer z 4 kept
operation pack on compute reads x writes sent packs
operation gather on communication over tp reads sent writes received
operation unpack on compute reads received writes y unpacks
operation a on compute reads x writes z
)";
  MemoryProfile overlapped = profile(problem + "run pack\nstart gather\nrun a\nwait gather\nfree sent\n"
                                               "run unpack\nfree received\n");
  EXPECT_EQ(overlapped.peaks[0].bytes, 10 + 4 + 12 + 12) << "where it is unpacked";
  EXPECT_EQ(overlapped.peaks[0].step, 5u);
  MemoryProfile kept = profile(problem + "run pack\nstart gather\nrun a\nwait gather\nrun unpack\nfree sent\n"
                                         "free received\n");
  EXPECT_EQ(kept.peaks[0].bytes, 10 + 4 + 12 + 12 + 8);
}

TEST(MemoryProfile, StorageLivesAsLongAsItsViews) {
  const char *problem = R"(
lane compute
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
lane compute
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

/// The peak and the index of its step.
static std::pair<int64_t, size_t> peakOf(llvm::StringRef text) {
  Peak peak = profile(text).peaks[0];
  return {peak.bytes, peak.step};
}

TEST(MemoryProfile, WhatIsFreedIsGoneAndNoMore) {
  const std::string head = R"(
lane compute
buffer x 10 permanent
buffer a 100
buffer b 50
buffer c 60 kept
operation first on compute reads x writes a
operation second on compute reads a writes b
operation third on compute reads b writes c
run first
run second
)";
  EXPECT_EQ(peakOf(head + "free a\nrun third\nfree b\n"), std::pair(int64_t(160), size_t(1)))
      << "x, a and b, then x, b and c";
  EXPECT_EQ(peakOf(head + "run third\nfree a\nfree b\n"), std::pair(int64_t(220), size_t(2))) << "x, a, b and c";
}

/// Two operations that read x: a is computed and freed, then b.
const std::string oneAfterTheOther = R"(
lane compute
operation first on compute reads x writes a
operation second on compute reads x writes b
run first
free a
run second
free b
)";

TEST(MemoryProfile, OfEqualPeaksTheFirstIsNamed) {
  EXPECT_EQ(peakOf("buffer x 10 permanent\nbuffer a 5\nbuffer b 5\n" + oneAfterTheOther),
            std::pair(int64_t(15), size_t(0)));
}

TEST(MemoryProfile, APeakOfTheHandoverIsAtTheLastStep) {
  ProblemText parsed = parse(R"(
lane compute
buffer x 10 permanent
buffer y 3 kept
buffer z 4 kept
operation a on compute reads x writes y
operation b on compute reads x writes z
run a
run b
)");
  parsed.problem.handover = {14};
  Peak peak = profileMemory(parsed.problem, *parsed.solution).peaks[0];
  EXPECT_EQ(peak.bytes, 10 + 3 + 4 + 14);
  EXPECT_EQ(peak.step, 1u);
}

TEST(MemoryProfile, EachRankClassHasAPeakOfItsOwn) {
  // The ranks with the larger shards peak at the first operation, the others at the second.
  MemoryProfile result =
      profile("rank_classes 2\nbuffer x 10 10 permanent\nbuffer a 100 1\nbuffer b 1 50\n" + oneAfterTheOther);
  EXPECT_EQ(result.peaks[0].bytes, 110);
  EXPECT_EQ(result.peaks[0].step, 0u);
  EXPECT_EQ(result.peaks[1].bytes, 60);
  EXPECT_EQ(result.peaks[1].step, 2u);
}

namespace {

/// "a 100, workspace 7 at second": the tensors at the peak.
std::string heldIn(llvm::StringRef text) {
  ProblemText parsed = parse(text);
  HeldAtPeak held = heldAtPeak(parsed.problem, *parsed.solution, 0);
  std::string said;
  int64_t sum = held.workspace;
  for (auto [buffer, bytes] : held.storages) {
    said += parsed.problem.buffers[buffer].name + " " + std::to_string(bytes) + ", ";
    sum += bytes;
  }
  EXPECT_EQ(sum, profileMemory(parsed.problem, *parsed.solution).peaks[0].bytes);
  return said + "workspace " + std::to_string(held.workspace) + " at " +
         (held.operation ? parsed.problem.operations[*held.operation].name : "the end");
}

} // namespace

TEST(HeldAtPeak, NamesWhatIsThereAndTheOperation) {
  EXPECT_EQ(heldIn(R"(
lane compute
buffer x 10 permanent
buffer a 100
buffer v 0 view a
buffer b 50
buffer c 60 kept
operation first on compute reads x writes a
operation view on compute reads a writes v
operation second on compute reads v writes b workspace 7
operation third on compute reads b writes c
run first
run view
free a
run second
free v
run third
free b
)"),
            "x 10, a 100, b 50, workspace 7 at second");
}
