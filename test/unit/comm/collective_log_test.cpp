//===- collective_log_test.cpp - the last collectives of a rank -----------===//

#include "runtime/comm/collective_log.h"

#include "runtime/comm/threads/run_threads.h"

#include <gmock/gmock.h>

namespace meshplan {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(CollectiveLog, KeepsTheLastOnes) {
  CollectiveLog log(2);
  log.start("first", 1);
  int64_t second = log.start("second", 2);
  log.beginStep(5);
  int64_t third = log.start("third", 3);
  log.end(0, StatusCode::ok); // no longer in the log
  log.end(third, StatusCode::timeout);
  auto entries = log.entries();
  ASSERT_EQ(entries.size(), 2u);
  EXPECT_EQ(entries[0].number, second);
  EXPECT_EQ(entries[0].step, 0);
  EXPECT_FALSE(entries[0].ended);
  EXPECT_EQ(entries[1].step, 5);
  EXPECT_EQ(entries[1].bytes, 3);
  EXPECT_TRUE(entries[1].ended);
  EXPECT_EQ(entries[1].outcome, StatusCode::timeout);
  EXPECT_THAT(log.open(), ElementsAre("second"));
}

TEST(CollectiveLog, AWorldNotesWhatItsGroupsStart) {
  std::vector<Status> statuses = runThreads(2, {}, [](World &world) -> Status {
    MESHPLAN_ASSIGN_OR_RETURN(auto group, world.createWorldGroup("dp"));
    std::vector<float> numbers{1, 2, 3}, all(6);
    world.log().beginStep(7);
    MESHPLAN_ASSIGN_OR_RETURN(Pending pending,
                              group->startAllReduce(numbers.data(), numbers.data(), 3, DType::f32, Reduction::sum,
                                                    {.sequence = 4, .origin = "a.plan:2 rowwise tp"}));
    EXPECT_THAT(world.log().open(), ElementsAre("all-reduce 4 on 'dp' (a.plan:2 rowwise tp)"));
    MESHPLAN_RETURN_IF_ERROR(pending->wait());
    EXPECT_THAT(world.log().open(), IsEmpty());
    MESHPLAN_RETURN_IF_ERROR(waitFor(group->startAllGather(numbers.data(), all.data(), 3, DType::f32)));
    auto entries = world.log().entries();
    EXPECT_EQ(entries.size(), 2u);
    EXPECT_EQ(entries[0].step, 7);
    EXPECT_EQ(entries[0].bytes, 12);
    EXPECT_EQ(entries[1].what, "all-gather on 'dp'");
    EXPECT_EQ(entries[1].bytes, 12);
    EXPECT_EQ(entries[1].outcome, StatusCode::ok);
    return Status();
  });
  EXPECT_TRUE(rootCause(statuses).ok()) << rootCause(statuses).message();
}

TEST(CollectiveLog, WhatFailsIsNotedWithItsCode) {
  (void)runThreads(2, {.timeout = std::chrono::milliseconds(200)}, [](World &world) -> Status {
    MESHPLAN_ASSIGN_OR_RETURN(auto group, world.createWorldGroup("dp"));
    if (world.rank() == 1)
      return Status(StatusCode::invalid, "left");
    Status status = waitFor(group->startBarrier());
    auto entries = world.log().entries();
    EXPECT_EQ(entries.size(), 1u);
    EXPECT_EQ(entries[0].outcome, status.code());
    EXPECT_NE(status.code(), StatusCode::ok);
    return status;
  });
}

} // namespace
} // namespace meshplan
