//===- meeting_point_test.cpp - the store address of ranks without MPI ----===//

#include "runtime/launch/meeting_point.h"

#include <gmock/gmock.h>

namespace meshplan {
namespace {

std::string meetingRefusal(const Environment &environment) {
  auto meeting = meetingPointOf(environment);
  EXPECT_EQ(meeting.status().code(), StatusCode::invalid);
  return meeting.status().message();
}

TEST(MeetingPoint, Nowhere) {
  EXPECT_FALSE(meetingPointOf({{"PATH", "/usr/bin"}})->has_value());
  EXPECT_FALSE(meetingPointOf({{"MASTER_ADDR", ""}, {"MASTER_PORT", ""}})->has_value());
}

TEST(MeetingPoint, RankZeroServes) {
  auto meeting = meetingPointOf({{"MASTER_ADDR", "node0"}, {"MASTER_PORT", "29500"}});
  ASSERT_TRUE(meeting.ok()) << meeting.status().message();
  EXPECT_EQ((*meeting)->host, "node0");
  EXPECT_EQ((*meeting)->port, 29500);
  EXPECT_FALSE((*meeting)->isServed);
}

TEST(MeetingPoint, TorchrunServesAndRestarts) {
  Environment environment = {{"MASTER_ADDR", "node0"},
                             {"MASTER_PORT", "29500"},
                             {"TORCHELASTIC_USE_AGENT_STORE", "True"},
                             {"TORCHELASTIC_RUN_ID", "job7"},
                             {"TORCHELASTIC_RESTART_COUNT", "0"}};
  auto first = meetingPointOf(environment);
  EXPECT_TRUE((*first)->isServed);
  environment["TORCHELASTIC_RESTART_COUNT"] = "1";
  EXPECT_NE((*meetingPointOf(environment))->run, (*first)->run) << "the store still has the keys of the first";
  environment["TORCHELASTIC_USE_AGENT_STORE"] = "False";
  EXPECT_FALSE((*meetingPointOf(environment))->isServed);
}

TEST(MeetingPoint, WhatIsWrong) {
  EXPECT_EQ(meetingRefusal({{"MASTER_ADDR", "node0"}}),
            "MASTER_ADDR is set and MASTER_PORT is not; help: unset it, or set "
            "both to the machine of rank 0 and a free port of it");
  EXPECT_EQ(meetingRefusal({{"MASTER_PORT", "29500"}}),
            "MASTER_PORT is set and MASTER_ADDR is not; help: unset it, or set "
            "both to the machine of rank 0 and a free port of it");
  for (const char *port : {"x", "0", "65536", "-1", "29500 "})
    EXPECT_EQ(meetingRefusal({{"MASTER_ADDR", "node0"}, {"MASTER_PORT", port}}),
              std::string("MASTER_PORT is '") + port + "', not a port");
}

} // namespace
} // namespace meshplan
