//===- defer_test.cpp - collectives in flight across instances ------------===//

#include "compiler/scheduling/algorithms.h"
#include "compiler/scheduling/defer.h"
#include "compiler/scheduling/memory_profile.h"
#include "test/unit/scheduling/problem_fixture.h"
#include "test/unit/scheduling/random_problem.h"

using namespace meshplan::scheduling;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

namespace meshplan::scheduling {
static void PrintTo(const Deferred &deferred, std::ostream *stream) {
  *stream << "before " << deferred.before << ": " << testing::PrintToString(deferred.steps);
}
} // namespace meshplan::scheduling

/// A forward pass, and a backward pass of two layers with the reductions of their gradients; defer.cpp has its times.
static const std::string twoReductions = R"(
lane compute
lane dp collectives
link wire 1000000000
communicator dp 0:(1)2
buffer x 1 permanent
buffer acc1 5 permanent
buffer acc2 5 permanent
buffer y 50
buffer g1 10
buffer g2 10
buffer s1 5
buffer s2 5
buffer sum1 0 view acc1 kept
buffer sum2 0 view acc2 kept
operation f on compute duration 30 reads x writes y
operation b2 on compute duration 30 reads y writes g2
operation r2 on dp over dp moves wire 40 reads g2 writes s2
operation b1 on compute duration 30 reads y g2 writes g1
operation r1 on dp over dp moves wire 40 reads g1 writes s1
operation a2 on compute reads acc2 s2 writes sum2 overwrites acc2
operation a1 on compute reads acc1 s1 writes sum1 overwrites acc1
)";

static const std::string steps = R"(
run f
run b2
start r2
run b1
free y
start r1
wait r2
free g2
run a2
free s2
wait r1
free g1
run a1
free s1
)";

/// Each instance runs everything.
static OccurrenceTable all(const Problem &problem) {
  return {llvm::BitVector(problem.operations.size()), llvm::BitVector(problem.operations.size(), true)};
}

static int64_t stepTime(const Instances &instances) { return totalTime(instances, simulate(instances)); }

static void expectVerified(const Instances &instances) {
  Unrolled unrolled = unroll(instances);
  EXPECT_EQ(message(unrolled.problem.check()), "");
  EXPECT_EQ(message(verify(unrolled.problem, unrolled.solution)), "");
}

TEST(Unroll, WithoutDeferringInstancesFollowEachOther) {
  ProblemText text = parse(twoReductions + steps);
  Instances instances(text.problem, *text.solution, all(text.problem), 5);
  expectVerified(instances);
  Unrolled unrolled = unroll(instances);
  EXPECT_THAT(unrolled.begins, ElementsAre(0, 14, 28));
  std::vector<InstanceTimes> times = simulate(instances);
  ASSERT_THAT(times, SizeIs(2));
  for (const InstanceTimes &each : times) {
    EXPECT_EQ(each.makespan, 140);
    EXPECT_EQ(each.exposed[2] + each.exposed[4], 50);
    EXPECT_THAT(each.busy, ElementsAre(90, 80));
  }
  EXPECT_EQ(stepTime(instances), 5 * 140);
  EXPECT_EQ(simulate(unrolled.problem, unrolled.solution).makespan, 3 * 140);
}

// What nothing was chosen of is left out: it names operations of one instance.
TEST(Unroll, HasNoChoices) {
  ProblemText text = parse(twoReductions + steps);
  text.problem = withSplittables(text.problem, 1);
  EXPECT_EQ(message(text.problem.check()), "");
  EXPECT_THAT(text.problem.splittables, testing::Not(testing::IsEmpty()));
  Unrolled unrolled = unroll(Instances(text.problem, *text.solution, all(text.problem), 5));
  EXPECT_EQ(message(unrolled.problem.check()), "");
  EXPECT_THAT(unrolled.problem.splittables, testing::IsEmpty());
}

TEST(Defer, LeavesToTheNextInstanceWhatIsInFlightAtTheEnd) {
  ProblemText text = parse(twoReductions + steps);
  Instances instances(text.problem, *text.solution, all(text.problem), 3);
  ASSERT_EQ(message(defer(instances)), "");
  // `wait r2, free g2, run a2, free s2` before `run b2`; `wait r1, ...` before `run b1`.
  EXPECT_THAT(instances.deferred, ElementsAre(Deferred{1, {6, 7, 8, 9}}, Deferred{3, {10, 11, 12, 13}}));
  expectVerified(instances);
  std::vector<InstanceTimes> times = simulate(instances);
  EXPECT_EQ(times[0].makespan, 90);
  EXPECT_EQ(times[1].makespan, 90);
  EXPECT_EQ(times[2].makespan, 140) << "the last one has no next one";
  EXPECT_EQ(times[0].exposed[2] + times[0].exposed[4], 0);
  // r1 begins after r2 and ends in the next instance.
  EXPECT_EQ(times[0].operations[4].begin, 100);
  EXPECT_EQ(times[0].operations[4].end, 140);
}

TEST(Defer, OneInstanceLeavesNothing) {
  ProblemText text = parse(twoReductions + steps);
  Instances instances(text.problem, *text.solution, all(text.problem), 1);
  ASSERT_EQ(message(defer(instances)), "");
  EXPECT_THAT(instances.deferred, IsEmpty());
}

TEST(Defer, WhatTheLastInstanceMakesOfTheSumsStaysThere) {
  ProblemText text = parse(twoReductions + R"(
buffer w 10 permanent
buffer w2 0 view w kept
operation update on compute duration 20 reads w sum1 sum2 writes w2 overwrites w
)" + steps + "run update\n");
  OccurrenceTable occurrences = all(text.problem);
  occurrences.every.reset(7);
  Instances instances(text.problem, *text.solution, occurrences, 2);
  ASSERT_EQ(message(defer(instances)), "");
  EXPECT_THAT(instances.deferred, SizeIs(2));
  expectVerified(instances);
  EXPECT_EQ(stepTime(instances), 90 + 160);
}

TEST(Defer, KeepsToTheMemoryLimit) {
  // Alone, an instance holds most in b1: x and the accumulators (11 bytes), y (50), g1 and g2 (10 each), s2 (5). With
  // g1, g2, s1 and s2 of the instance before, f holds 91: these 30 beside 11 and y.
  for (int64_t limit : {91, 90}) {
    ProblemText text = parse("memory_limit " + std::to_string(limit) + twoReductions + steps);
    Instances instances(text.problem, *text.solution, all(text.problem), 2);
    ASSERT_EQ(message(defer(instances)), "");
    EXPECT_EQ(instances.deferred.empty(), limit == 90) << limit;
  }
}

static const std::string twoReductionsInTurn = R"(
lane compute
lane dp collectives
lane pods collectives
communicator dp 0:(1)2
communicator pods 1:(1)2
buffer w 5 permanent
buffer acc 5 permanent
buffer h 5
buffer g 5
buffer s 5
buffer u 5
buffer t 5
buffer sum 0 view acc kept
operation f on compute duration 50 writes h
operation b on compute duration 30 reads h writes g
operation r on dp over dp latency 40 reads g writes s
operation c on compute duration 1 reads s WEIGHT writes u
operation q on pods over pods latency 40 reads u writes t
operation a on compute reads acc t writes sum overwrites acc
run f
run b
free h
start r
wait r
free g
run c
free s
start q
wait q
free u
run a
free t
)";

static std::string withWeight(llvm::StringRef weight) {
  auto [before, after] = llvm::StringRef(twoReductionsInTurn).split(" WEIGHT");
  return (before + weight + after).str();
}

// An all-reduce over another axis follows from the reduction: the next instance starts it.
TEST(Defer, ACollectiveThatMovesOnWhatAnotherHasGivenFollowsIt) {
  ProblemText text = parse(withWeight(""));
  Instances instances(text.problem, *text.solution, all(text.problem), 3);
  EXPECT_EQ(stepTime(instances), 3 * 161);
  ASSERT_EQ(message(defer(instances)), "");
  // `wait r, free g, run c, free s, start q` before `run b`; `wait q, ...` before `run c`, which makes `u` again.
  EXPECT_THAT(instances.deferred, ElementsAre(Deferred{1, {4, 5, 6, 7, 8}}, Deferred{6, {9, 10, 11, 12}}));
  expectVerified(instances);
  std::vector<InstanceTimes> times = simulate(instances);
  EXPECT_EQ(times[0].makespan, 80);
  EXPECT_EQ(times[1].makespan, 91) << "q ends 10 after b";
  EXPECT_EQ(times[2].makespan, 81 + 81) << "its own reductions begin after b";
}

// With what it sends, the second one would defer the rest of the instance, as a product does that follows from a
// gather.
TEST(Defer, ACollectiveOfWhatIsComputedWithOtherTensorsDoesNot) {
  ProblemText text = parse(withWeight(" w"));
  Instances instances(text.problem, *text.solution, all(text.problem), 2);
  ASSERT_EQ(message(defer(instances)), "");
  ASSERT_THAT(instances.deferred, SizeIs(1)) << "the second one only";
  EXPECT_EQ(instances.deferred[0].steps.front(), 9u);
  expectVerified(instances);
}

// A collective that reads a storage of the session, such as contiguous gradients, must be over before the next
// instance writes there.
TEST(Defer, StandsBeforeWhatWritesTheStorageThatItReads) {
  ProblemText text = parse(R"(
lane compute
lane dp collectives
communicator dp 0:(1)2
buffer acc 5 permanent
buffer store 5 permanent
buffer h 5
buffer filled 0 view store
buffer s 5
buffer sum 0 view acc kept
operation f on compute duration 10 writes h
operation b on compute duration 10 reads h store writes filled overwrites store
operation r on dp over dp latency 100 reads filled writes s
operation a on compute reads acc s writes sum overwrites acc
run f
run b
free h
start r
wait r
free filled
run a
free s
)");
  Instances instances(text.problem, *text.solution, all(text.problem), 2);
  ASSERT_EQ(message(defer(instances)), "");
  EXPECT_THAT(instances.deferred, ElementsAre(Deferred{1, {4, 5, 6, 7}}));
  expectVerified(instances);
  // One step later, `b` of the second instance would write what `r` of the first one reads.
  instances.deferred[0].before = 2;
  Unrolled unrolled = unroll(instances);
  EXPECT_EQ(message(verify(unrolled.problem, unrolled.solution)),
            "V3: step 'run b of instance 1' comes before 'r of instance 0' is over");
}

/// Adds an accumulator for each buffer of the problem that nothing else receives, if the seed wants it.
static Problem withAccumulators(Problem problem, unsigned seed) {
  std::mt19937 random(seed);
  for (unsigned index = 0, count = problem.buffers.size(); index < count; ++index) {
    if (problem.buffers[index].permanent || problem.buffers[index].kept || random() % 2)
      continue;
    unsigned accumulator = problem.buffers.size();
    problem.buffers.push_back({"acc" + std::to_string(index), {2}, /*permanent=*/true});
    problem.buffers.push_back({"sum" + std::to_string(index), {0}, false, /*kept=*/true, accumulator});
    Operation add;
    add.name = "add" + std::to_string(index);
    add.consumed = {accumulator, index};
    add.produced = {accumulator + 1};
    add.overwritten = {accumulator};
    add.duration = random() % 3;
    problem.operations.push_back(add);
  }
  return problem;
}

/// Of what each instance runs, the first one runs for all some operations that depend only on permanent buffers which
/// nothing overwrites.
static OccurrenceTable withFirst(const Problem &problem, llvm::BitVector every, unsigned seed) {
  llvm::BitVector first(problem.operations.size()), isChanging(problem.buffers.size());
  for (const Operation &operation : problem.operations)
    for (unsigned buffer : operation.overwritten)
      isChanging.set(problem.storageOf(buffer));
  auto producers = problem.producers();
  auto isSame = [&](unsigned buffer) {
    return !isChanging[problem.storageOf(buffer)] &&
           (producers[buffer] ? first[*producers[buffer]] : problem.buffers[buffer].permanent);
  };
  auto isUnchanged = [&](unsigned buffer) { return !isChanging[problem.storageOf(buffer)]; };
  for (unsigned index : every.set_bits()) {
    const Operation &operation = problem.operations[index];
    bool isFirst = (seed + index) % 3 != 0 && llvm::all_of(operation.consumed, isSame) &&
                   llvm::all_of(operation.produced, isUnchanged) &&
                   llvm::all_of(operation.after, [&](unsigned other) { return first[other]; });
    if (isFirst)
      first.set(index);
  }
  every.reset(first);
  return {first, every};
}

// A gather of parameters for all three instances: the first one waits for it, the last one frees what it gives.
TEST(Unroll, TheFirstInstanceMakesWhatAllRead) {
  ProblemText text = parse(R"(
lane compute
lane dp collectives
link wire 1000000000
communicator dp 0:(1)2
buffer shard 4 permanent
buffer a 8 permanent
buffer cast 4
buffer whole 8
buffer y 8
buffer next 0 view a kept
operation convert on compute duration 5 reads shard writes cast
operation gather on dp over dp moves wire 20 reads cast writes whole
operation pass on compute duration 30 reads whole writes y
operation add on compute duration 1 reads a y writes next overwrites a
run convert
start gather
wait gather
free cast
run pass
free whole
run add
free y
)");
  OccurrenceTable occurrences = all(text.problem);
  occurrences.first.set(0, 2);
  occurrences.every.reset(0, 2);
  Instances instances(text.problem, *text.solution, occurrences, 4);
  EXPECT_EQ(instances.occurrenceOf(3), Occurrence::first) << "only the gather reads it";
  EXPECT_EQ(instances.occurrenceOf(5), Occurrence::last);
  EXPECT_EQ(instances.occurrenceOf(7), Occurrence::every);
  expectVerified(instances);
  std::vector<InstanceTimes> times = simulate(instances);
  ASSERT_EQ(times.size(), 3u);
  EXPECT_EQ(times[0].makespan, 5 + 20 + 31);
  EXPECT_EQ(times[1].makespan, 31);
  EXPECT_EQ(totalTime(instances, times), 56 + 2 * 31 + 31);
  EXPECT_EQ(times[1].operations[1], Interval()) << "it has no gather";
  // In the first instance `cast` and `whole` are there at once; `whole` is there in all of them.
  Unrolled unrolled = unroll(instances);
  EXPECT_EQ(profileMemory(unrolled.problem, unrolled.solution).peaks[0].bytes, 4 + 8 + 8 + 8);
  EXPECT_EQ(unrolled.problem.operations.size(), 2u + 3 * 2);
}

// The steps of all instances together keep all rules, whatever is deferred, and the step is never slower.
TEST(Defer, IsRightOnRandomProblems) {
  unsigned deferred = 0;
  for (unsigned seed = 0; seed < 2000; ++seed) {
    Problem problem = withAccumulators(randomProblem(seed), seed);
    auto producers = problem.producers();
    llvm::BitVector every(problem.operations.size());
    for (unsigned index = problem.operations.size(); index-- > 0;) {
      if (llvm::StringRef(problem.operations[index].name).starts_with("add"))
        every.set(index);
      if (every[index])
        problem.forEachDependency(problem.operations[index], producers, [&](unsigned other) { every.set(other); });
    }
    ASSERT_EQ(message(problem.check()), "");
    llvm::Expected<Solution> solution = findSolver("list")->solve(problem);
    ASSERT_TRUE(bool(solution)) << message(solution.takeError());
    if (seed % 2)
      problem.memoryLimit = {profileMemory(problem, *solution).peaks[0].bytes};
    Instances instances(problem, *solution, withFirst(problem, every, seed), 2 + seed % 3);
    if (seed % 2 == 0)
      expectVerified(instances);
    int64_t before = stepTime(instances);
    ASSERT_EQ(message(defer(instances)), "") << "seed " << seed;
    if (instances.deferred.empty())
      continue;
    ++deferred;
    expectVerified(instances);
    EXPECT_LT(stepTime(instances), before) << "seed " << seed;
  }
  EXPECT_GT(deferred, 100u);
}
