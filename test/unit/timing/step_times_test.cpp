#include "test/unit/timing/times.h"

#include <gmock/gmock.h>

using namespace meshplan;
using namespace meshplan::test;

namespace {

/// Peaks of 1 Gflop/s in f32 and 4 in bf16.
Cluster exampleCluster() {
  Cluster cluster;
  cluster.compute.flops = {{"f32", 1e9}, {"bf16", 4e9}};
  return cluster;
}

} // namespace

TEST(StepTimesTest, AStepIsItsMicrobatchesOneAfterTheOther) {
  std::vector<ProgramTimes> programs = exampleTimes();
  std::optional<StepTimes> step = stepTimes(programs, "step");
  ASSERT_TRUE(step);
  EXPECT_EQ(step->total, 3000);
  EXPECT_EQ(step->compute, 1800);
  EXPECT_EQ(step->waitsForHost, 600);
  EXPECT_EQ(step->communication, 3 * 500 + 400);
  EXPECT_EQ(step->exposed, 600);
  ASSERT_EQ(step->runs.size(), 3u);
  for (int64_t run = 0; run < 3; ++run) {
    EXPECT_EQ(step->runs[run].microbatch, run);
    EXPECT_EQ(step->runs[run].begin, 1000 * run);
  }
  EXPECT_EQ(step->runs[1].program, &programs[0]);
  EXPECT_EQ(step->runs[2].program, &programs[1]);
  EXPECT_FALSE(stepTimes(programs, "eval"));
}

TEST(StepTimesTest, InstancesBetweenFirstAndLastHaveTimesOfTheirOwn) {
  std::vector<ProgramTimes> programs = exampleTimes();
  programs.insert(programs.begin() + 1, programs.front());
  programs[1].makespan = 900;
  programs[2].timeline.push_back({"step", 3});
  StepTimes step = *stepTimes(programs, "step");
  ASSERT_EQ(step.runs.size(), 4u);
  for (size_t run = 0; run < 4; ++run)
    EXPECT_EQ(step.runs[run].program, &programs[run == 0 ? 0 : run == 3 ? 2 : 1]) << run;
  EXPECT_EQ(step.total, 1000 + 900 + 900 + 1000);
}

TEST(StepTimesTest, CopiesWithTheHostAreNoCommunication) {
  std::vector<ProgramTimes> programs = exampleTimes();
  for (ProgramTimes &program : programs) {
    program.operations.push_back(copy("host", 800, 1100, 150));
    program.makespan += 150;
  }
  StepTimes step = *stepTimes(programs, "step"), without = *stepTimes(exampleTimes(), "step");
  EXPECT_EQ(step.copies, 3 * 300);
  EXPECT_EQ(step.exposedCopies, 3 * 150);
  EXPECT_EQ(step.communication, without.communication);
  EXPECT_EQ(step.exposed, without.exposed);
  EXPECT_EQ(step.groups.size(), without.groups.size());
  EXPECT_EQ(step.total, step.compute + step.exposed + step.exposedCopies + step.waitsForHost);
}

TEST(StepTimesTest, GroupsArePurposesOverCommunicators) {
  std::vector<ProgramTimes> programs = exampleTimes();
  programs[1].operations.push_back(collective("activations", "tp", 0, 50, 50));
  programs[1].operations.push_back(collective("parameters", "dp.tp", 0, 10, 0));
  StepTimes step = *stepTimes(programs, "step");
  auto text = [](const CollectiveGroup &group) {
    return group.purpose + " " + group.communicator + " " + std::to_string(group.count) + " " +
           std::to_string(group.bytes) + " " + std::to_string(group.exposed) + " " + std::to_string(group.hidden());
  };
  std::vector<std::string> texts;
  for (const CollectiveGroup &group : step.groups)
    texts.push_back(text(group));
  EXPECT_THAT(texts, testing::ElementsAre("activations tp 1 100 50 0", "parameters dp 3 300 600 900",
                                          "parameters dp.tp 1 100 0 10", "gradients dp.tp 1 40 0 400"));
}

TEST(StepTimesTest, UtilizationIsTheTimeAtThePeakOfAllRanksRelativeToTheStep) {
  std::vector<ProgramTimes> programs = exampleTimes();
  StepTimes step = *stepTimes(programs, "step");
  // Three microbatches of 3e6 flops forward, thrice with the backward pass.
  EXPECT_DOUBLE_EQ(step.modelFlops["bf16"], 27e6);
  // At 4e9 flop/s on 10,000 ranks 675 ns of 3000.
  EXPECT_DOUBLE_EQ(*utilization(step, exampleCluster(), 10'000), 0.225);
  step.modelFlops["f32"] = 6.75e6;
  EXPECT_DOUBLE_EQ(*utilization(step, exampleCluster(), 10'000), 0.45);
}

TEST(StepTimesTest, WhatAnotherProgramComputesBeforeIsTimeAndNoModelFlops) {
  std::vector<ProgramTimes> programs = exampleTimes();
  ProgramTimes count = programs.front();
  count.name = "count0";
  programs.push_back(count);
  std::vector<Instance> sweep{{"count0", 0}, {"count0", 1}, {"count0", 2}};
  programs[1].timeline.insert(programs[1].timeline.begin(), sweep.begin(), sweep.end());
  StepTimes step = *stepTimes(programs, "step");
  EXPECT_EQ(step.total, 6000);
  EXPECT_DOUBLE_EQ(step.modelFlops["bf16"], 27e6);
}

TEST(StepTimesTest, WithoutABackwardPassTheFlopsAreThoseOfTheForwardPass) {
  std::vector<ProgramTimes> programs = {exampleTimes()[1]};
  programs[0].trains = false;
  programs[0].timeline.clear();
  EXPECT_DOUBLE_EQ(stepTimes(programs, "step")->modelFlops["bf16"], 3e6);
}

TEST(StepTimesTest, NoFlopsNoUtilization) {
  StepTimes step;
  EXPECT_FALSE(utilization(step, exampleCluster(), 1));
  step.total = 100;
  EXPECT_FALSE(utilization(step, exampleCluster(), 1));
  step.modelFlops["f32"] = 50;
  EXPECT_TRUE(utilization(step, exampleCluster(), 1));
}
