//===- meaning_test.cpp - every rule about tables has a failing case ------===//

#include "test/unit/artifact/build_schedule.h"

#include <gmock/gmock.h>

namespace meshplan {
namespace {

using artifact::AxisRef;
using artifact::ScheduleT;

struct Case {
  const char *name;
  void (*change)(ScheduleT &);
  const char *message;
};

class Meaning : public testing::TestWithParam<Case> {};

TEST_P(Meaning, IsRefused) {
  ScheduleT schedule = buildSchedule();
  GetParam().change(schedule);
  EXPECT_EQ(verificationError(schedule), GetParam().message);
}

TEST(MeaningOf, TheUnchangedScheduleIsValid) { EXPECT_EQ(verificationError(buildSchedule()), ""); }

artifact::DimT &dimOf(ScheduleT &s, TestValue value, size_t dim) { return *valueOf(s, value).dims[dim]; }

const Case scheduleCases[] = {
    {"AxisSize", [](ScheduleT &s) { s.mesh[1]->size = 0; }, "mesh: axes[1]: size 0 is not positive"},
    {"AxisNameTwice", [](ScheduleT &s) { s.mesh[1]->name = "dp"; }, "mesh: axes[1]: the name 'dp' twice"},
    {"AxisName", [](ScheduleT &s) { s.mesh[0]->name = ""; }, "mesh: axes[0]: no name"},
    {"WorldSize", [](ScheduleT &s) { s.mesh[0]->size = int64_t(1) << 40; },
     "mesh: axes[0]: the mesh has more than 2147483647 ranks"},
    {"CommunicatorAxis", [](ScheduleT &s) { s.communicators[1]->axes = {AxisRef(2, 1, 3)}; },
     "communicators[1]: axes[0]: axis 2 of a mesh with 2 axes"},
    {"CommunicatorDigit", [](ScheduleT &s) { s.communicators[1]->axes = {AxisRef(1, 2, 3)}; },
     "communicators[1]: axes[0]: digit (2)3 of an axis of size 3"},
    {"CommunicatorName", [](ScheduleT &s) { s.communicators[1]->name = "dp"; },
     "communicators[1]: the name 'dp' twice"},
    {"StreamName", [](ScheduleT &s) { s.streams[0]->name = ""; }, "streams[0]: no name"},
    {"OriginSource", [](ScheduleT &s) { s.origins[0]->plan = 1; }, "origins[0]: source 1 of 1"},
    {"ProgramName", [](ScheduleT &s) { forwardOf(s).name = ""; }, "programs[0]: no name"},
    {"Devices",
     [](ScheduleT &s) {
       forwardOf(s).devices.push_back(std::make_unique<artifact::AxisT>());
       forwardOf(s).devices[0]->name = "one";
     },
     "programs[0]: devices: axes[0]: size 0 is not positive"},
};

const Case valueCases[] = {
    {"DType", [](ScheduleT &s) { valueOf(s, sum).dtype = artifact::DType(99); },
     "programs[0]: values[4]: dtype 99 does not exist"},
    {"Partial", [](ScheduleT &s) { valueOf(s, sum).partial = artifact::Reduction(9); },
     "programs[0]: values[4]: partial 9 does not exist"},
    {"PartialWithoutAxes", [](ScheduleT &s) { valueOf(s, product).partial_axes.clear(); },
     "programs[0]: values[3]: a partial value without axes"},
    {"AxesWithoutPartial", [](ScheduleT &s) { valueOf(s, product).partial = artifact::Reduction::none; },
     "programs[0]: values[3]: partial axes without a reduction"},
    {"Extent", [](ScheduleT &s) { dimOf(s, weight, 0).extent = -4; },
     "programs[0]: values[0]: dims[0]: extent -4 is negative"},
    {"Unit", [](ScheduleT &s) { dimOf(s, weight, 0).unit = 5; },
     "programs[0]: values[0]: dims[0]: extent 12 in units of 5"},
    {"UnitZero", [](ScheduleT &s) { dimOf(s, weight, 0).unit = 0; },
     "programs[0]: values[0]: dims[0]: extent 12 in units of 0"},
    {"PartsSum", [](ScheduleT &s) { dimOf(s, part, 1).parts = {8, 2}; },
     "programs[0]: values[5]: dims[1]: parts add up to 10, extent is 12"},
    {"PartsUnit", [](ScheduleT &s) { dimOf(s, part, 1).parts = {9, 3}; },
     "programs[0]: values[5]: dims[1]: part 9 of units of 2"},
    {"PartsOverflow", [](ScheduleT &s) { dimOf(s, part, 1).parts = {INT64_MAX - 1, 4}; },
     "programs[0]: values[5]: dims[1]: parts that overflow"},
    {"Axis", [](ScheduleT &s) { dimOf(s, weight, 1).axes = {AxisRef(-1, 1, 3)}; },
     "programs[0]: values[0]: dims[1]: axes[0]: axis -1 of a mesh with 2 axes"},
    {"Digit", [](ScheduleT &s) { dimOf(s, weight, 1).axes = {AxisRef(1, 1, 2)}; },
     "programs[0]: values[0]: dims[1]: axes[0]: digit (1)2 of an axis of size 3"},
    {"AxisTwice", [](ScheduleT &s) { dimOf(s, input, 0).axes = {AxisRef(1, 1, 3)}; },
     "programs[0]: values[2]: dims[1]: axes[0]: axis 1 is used twice"},
    {"PartialAxisTwice", [](ScheduleT &s) { dimOf(s, product, 1).axes = {AxisRef(1, 1, 3)}; },
     "programs[0]: values[3]: partial: axes[0]: axis 1 is used twice"},
    {"TooLarge", [](ScheduleT &s) { dimOf(s, weight, 0).extent = int64_t(1) << 61; },
     "programs[0]: values[0]: dims[0]: extent 2305843009213693952 makes the tensor larger than the address space"},
};

const Case portCases[] = {
    {"ParameterNames", [](ScheduleT &s) { forwardOf(s).parameters[0]->names.clear(); },
     "programs[0]: parameters[0]: no name"},
    {"ParameterNameTwice",
     [](ScheduleT &s) { forwardOf(s).parameters[0]->names[1] = forwardOf(s).parameters[0]->names[0]; },
     "programs[0]: parameters[0]: names[1]: the name 'lm_head.weight' twice"},
    {"ParameterValue", [](ScheduleT &s) { forwardOf(s).parameters[0]->value = 7; },
     "programs[0]: parameters[0]: value 7 of 7"},
    {"ConstantValue", [](ScheduleT &s) { forwardOf(s).constants[0]->value = weight; },
     "programs[0]: constants[0]: value 0 is defined twice"},
    {"ConstantSize", [](ScheduleT &s) { forwardOf(s).constants[0]->data.pop_back(); },
     "programs[0]: constants[0]: 23 bytes of data, the value has 24"},
    {"InputName", [](ScheduleT &s) { forwardOf(s).inputs[0]->name = ""; }, "programs[0]: inputs[0]: no name"},
    {"InputValue", [](ScheduleT &s) { forwardOf(s).inputs[0]->value = -1; }, "programs[0]: inputs[0]: value -1 of 7"},
    {"OutputValue", [](ScheduleT &s) { forwardOf(s).outputs[0]->value = 100; },
     "programs[0]: outputs[0]: value 100 of 7"},
    {"OutputFreed", [](ScheduleT &s) { forwardOf(s).outputs[0]->value = part; },
     "programs[0]: outputs[0]: value 5 is used after it was freed"},
    {"Memory", [](ScheduleT &s) { forwardOf(s).memory->peak = -1; }, "programs[0]: memory: a size is negative"},
};

std::string caseName(const testing::TestParamInfo<Case> &info) { return info.param.name; }

INSTANTIATE_TEST_SUITE_P(Schedule, Meaning, testing::ValuesIn(scheduleCases), caseName);
INSTANTIATE_TEST_SUITE_P(Value, Meaning, testing::ValuesIn(valueCases), caseName);
INSTANTIATE_TEST_SUITE_P(Port, Meaning, testing::ValuesIn(portCases), caseName);

TEST(MeaningOf, ReferenceProgramRunsOnDevicesOfItsOwn) {
  ScheduleT schedule = buildSchedule();
  auto reference = std::make_unique<artifact::ProgramT>();
  reference->name = "reference";
  reference->devices.push_back(std::make_unique<artifact::AxisT>());
  reference->devices[0]->name = "one";
  reference->devices[0]->size = 1;
  schedule.programs.push_back(std::move(reference));
  EXPECT_EQ(verificationError(schedule), "");
  schedule.programs[1]->name = "forward";
  EXPECT_EQ(verificationError(schedule), "programs[1]: the name 'forward' twice");
}

} // namespace
} // namespace meshplan
