//===- resume_test.cpp - what a runner saves in checkpoints ---------------===//

#include "test/unit/checkpoint/small_training.h"

#include <cstring>

using namespace meshplan;

namespace {

/// The first element of a rank's shard.
double firstOf(const ProgramRunner &runner, std::string_view name) {
  auto part = runner.walk().current(name);
  EXPECT_TRUE(part.ok());
  double first = 0;
  std::memcpy(&first, part->data(), sizeof first);
  return first;
}

Status onOneRank(const std::function<Status(ProgramRunner &)> &body) {
  Artifact artifact = scheduleOf({.ranks = 1});
  return onRanks(artifact, [&](World &, ProgramRunner &runner) -> Status {
    MESHPLAN_RETURN_IF_ERROR(runner.loadParameters(OnesFeed()));
    return body(runner);
  });
}

TEST(ProgramRunner, SaysWhenUpdatesBegin) {
  std::vector<double> seen;
  Status status = onOneRank([&](ProgramRunner &runner) -> Status {
    runner.beforeUpdates([&] {
      seen.push_back(firstOf(runner, "w"));
      return Status();
    });
    for (int step = 0; step < 3; ++step)
      MESHPLAN_RETURN_IF_ERROR(runner.run());
    return Status();
  });
  EXPECT_TRUE(status.ok()) << status.message();
  EXPECT_THAT(seen, testing::ElementsAre(1, behindStep(1).parameter, behindStep(2).parameter));
}

TEST(ProgramRunner, WhatFailsBeforeUpdatesChangesNothing) {
  double after = 0;
  Status status = onOneRank([&](ProgramRunner &runner) -> Status {
    runner.beforeUpdates([] { return Status(StatusCode::io, "the disk is gone"); });
    Status run = runner.run();
    after = firstOf(runner, "w");
    return run;
  });
  EXPECT_EQ(status.message(), "the disk is gone");
  EXPECT_EQ(after, 1);
}

TEST(ProgramRunner, GoesOnFromCounters) {
  Status status = onOneRank([&](ProgramRunner &runner) -> Status {
    StepCounters counters{.steps = 5, .skipped = 2, .stepsInRow = 1, .lossScale = 8};
    MESHPLAN_RETURN_IF_ERROR(runner.resume(counters));
    EXPECT_EQ(runner.walk().numbers().find("step", runner.walk().steps()), 6);
    MESHPLAN_RETURN_IF_ERROR(runner.run());
    // The plan has no loss scale and no guard.
    EXPECT_EQ(runner.counters(), (StepCounters{.steps = 6, .skipped = 2, .stepsInRow = 1, .lossScale = 0}));
    return Status();
  });
  EXPECT_TRUE(status.ok()) << status.message();
}

} // namespace
