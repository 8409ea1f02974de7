//===- refused_schedule.h - a valid schedule with one error -----*- C++ -*-===//

#ifndef MESHPLAN_TEST_UNIT_ARTIFACT_REFUSED_SCHEDULE_H
#define MESHPLAN_TEST_UNIT_ARTIFACT_REFUSED_SCHEDULE_H

#include "test/unit/artifact/build_schedule.h"

#include <gmock/gmock.h>

namespace meshplan {

/// One change to the schedule of buildSchedule, and the expected message.
struct WrongSchedule {
  const char *name;
  void (*change)(artifact::ScheduleT &);
  const char *message; ///< after the location that all cases of a suite have in common
};

class RefusedSchedule : public testing::TestWithParam<WrongSchedule> {
protected:
  void expectRefusal(const std::string &place) const {
    artifact::ScheduleT schedule = buildSchedule();
    GetParam().change(schedule);
    EXPECT_EQ(verificationError(schedule), place + GetParam().message);
  }
};

inline std::string nameOfCase(const testing::TestParamInfo<WrongSchedule> &info) { return info.param.name; }

} // namespace meshplan

#endif // MESHPLAN_TEST_UNIT_ARTIFACT_REFUSED_SCHEDULE_H
