//===- verify_schedule_test.cpp - rules of mesh, communicators, values ----===//

#include "test/unit/artifact/refused_schedule.h"

namespace meshplan {
namespace {

using artifact::ScheduleT;

using VerifySchedule = RefusedSchedule;

TEST_P(VerifySchedule, IsRefused) { expectRefusal(""); }

TEST(VerifyMeaning, TheUnchangedScheduleIsValid) { EXPECT_EQ(verificationError(buildSchedule()), ""); }

artifact::DimT &dimOf(ScheduleT &s, TestValue value, size_t dim) { return *valueOf(s, value).dims[dim]; }

/// A copy of the first program under another name.
artifact::ProgramT &addProgram(ScheduleT &s, const std::string &name, artifact::ProgramRole role) {
  artifact::ProgramT &program = *s.programs.emplace_back(std::make_unique<artifact::ProgramT>(forwardOf(s)));
  program.name = name;
  program.role = role;
  return program;
}

TEST(VerifyMeaning, ATimelineIsValid) {
  ScheduleT schedule = buildSchedule();
  addProgram(schedule, "count0", artifact::ProgramRole::microbatch);
  forwardOf(schedule).timeline = {{1, 0}, {1, 1}, {1, 2}, {0, 0}, {0, 1}};
  EXPECT_EQ(verificationError(schedule), "");
}

const WrongSchedule scheduleCases[] = {
    {"AxisSizeNegative", [](ScheduleT &s) { s.mesh[0]->size = -2; }, "mesh: axes[0]: size -2 is not positive"},
    {"CommunicatorAxisTwice",
     [](ScheduleT &s) {
       s.communicators[0]->axes = {artifact::AxisRef(0, 1, 2), artifact::AxisRef(1, 1, 3), artifact::AxisRef(0, 1, 2)};
     },
     "communicators[0]: axes[2]: axis 0 is used twice"},
    {"CommunicatorWithoutName", [](ScheduleT &s) { s.communicators[0]->name = ""; }, "communicators[0]: no name"},
    {"OriginSourceNegative", [](ScheduleT &s) { s.origins[0]->plan = -2; }, "origins[0]: source -2 of 1"},
    {"OriginWithoutSources", [](ScheduleT &s) { s.sources.clear(); }, "origins[0]: source 0 of 0"},
    {"AxisSize", [](ScheduleT &s) { s.mesh[1]->size = 0; }, "mesh: axes[1]: size 0 is not positive"},
    {"AxisNameTwice", [](ScheduleT &s) { s.mesh[1]->name = "dp"; }, "mesh: axes[1]: the name 'dp' twice"},
    {"AxisName", [](ScheduleT &s) { s.mesh[0]->name = ""; }, "mesh: axes[0]: no name"},
    {"WorldSize", [](ScheduleT &s) { s.mesh[0]->size = int64_t(1) << 40; },
     "mesh: axes[0]: the mesh has more than 2147483647 ranks"},
    {"CommunicatorAxis", [](ScheduleT &s) { s.communicators[1]->axes = {artifact::AxisRef(2, 1, 3)}; },
     "communicators[1]: axes[0]: axis 2 of a mesh with 2 axes"},
    {"CommunicatorDigit", [](ScheduleT &s) { s.communicators[1]->axes = {artifact::AxisRef(1, 2, 3)}; },
     "communicators[1]: axes[0]: digit (2)3 of an axis of size 3"},
    {"CommunicatorName", [](ScheduleT &s) { s.communicators[1]->name = "dp"; },
     "communicators[1]: the name 'dp' twice"},
    {"OriginSource", [](ScheduleT &s) { s.origins[0]->plan = 1; }, "origins[0]: source 1 of 1"},
    {"ProgramName", [](ScheduleT &s) { forwardOf(s).name = ""; }, "programs[0]: no name"},
    {"RoleOfNoKind", [](ScheduleT &s) { forwardOf(s).role = static_cast<artifact::ProgramRole>(9); },
     "programs[0]: role 9 does not exist"},
    {"MicrobatchInNoTimeline", [](ScheduleT &s) { forwardOf(s).role = artifact::ProgramRole::microbatch; },
     "programs[0]: its role is 'microbatch', and it is in 0 timelines"},
    {"MicrobatchInTwoTimelines",
     [](ScheduleT &s) {
       addProgram(s, "count0", artifact::ProgramRole::microbatch);
       addProgram(s, "eval", artifact::ProgramRole::eval).timeline = {{1, 0}, {2, 0}};
       forwardOf(s).timeline = {{1, 0}, {0, 0}};
     },
     "programs[1]: its role is 'microbatch', and it is in 2 timelines"},
    {"MicrobatchWithATimeline",
     [](ScheduleT &s) {
       forwardOf(s).role = artifact::ProgramRole::microbatch;
       forwardOf(s).timeline = {{0, 0}};
     },
     "programs[0]: its role is 'microbatch', and it has a timeline"},
    {"TimelineProgram", [](ScheduleT &s) { forwardOf(s).timeline = {{1, 0}, {0, 0}}; },
     "programs[0]: timeline[0]: program 1 of 1"},
    {"TimelineProgramNegative", [](ScheduleT &s) { forwardOf(s).timeline = {{-1, 0}, {0, 0}}; },
     "programs[0]: timeline[0]: program -1 of 1"},
    {"TimelineRole",
     [](ScheduleT &s) {
       addProgram(s, "eval", artifact::ProgramRole::eval);
       forwardOf(s).timeline = {{1, 0}, {0, 0}};
     },
     "programs[0]: timeline[0]: the role of 'eval' is 'eval', must be 'microbatch'"},
    {"TimelineBeginsLater", [](ScheduleT &s) { forwardOf(s).timeline = {{0, 1}}; },
     "programs[0]: timeline[0]: microbatch 1, the next one is 0"},
    {"TimelineWithAGap", [](ScheduleT &s) { forwardOf(s).timeline = {{0, 0}, {0, 2}}; },
     "programs[0]: timeline[1]: microbatch 2, the next one is 1"},
    {"TimelineTwice", [](ScheduleT &s) { forwardOf(s).timeline = {{0, 0}, {0, 0}}; },
     "programs[0]: timeline[1]: microbatch 0, the next one is 1"},
    {"TimelineEnd",
     [](ScheduleT &s) {
       addProgram(s, "count0", artifact::ProgramRole::microbatch);
       forwardOf(s).timeline = {{1, 0}};
     },
     "programs[0]: timeline: it does not end with the program itself"},
    {"TimelineBetween",
     [](ScheduleT &s) {
       addProgram(s, "count0", artifact::ProgramRole::microbatch);
       forwardOf(s).timeline = {{0, 0}, {1, 0}, {0, 1}};
     },
     "programs[0]: timeline[1]: 'count0' runs between instances of the program"},
    {"TwoSteps",
     [](ScheduleT &s) {
       forwardOf(s).role = artifact::ProgramRole::step;
       s.programs.push_back(std::make_unique<artifact::ProgramT>(forwardOf(s)));
       s.programs.back()->name = "other";
     },
     "programs[1]: a second program of role 'step'"},
    {"Devices",
     [](ScheduleT &s) {
       forwardOf(s).devices.push_back(std::make_unique<artifact::AxisT>());
       forwardOf(s).devices[0]->name = "one";
     },
     "programs[0]: devices: axes[0]: size 0 is not positive"},
};

const WrongSchedule valueCases[] = {
    {"DTypeNegative", [](ScheduleT &s) { valueOf(s, sum).dtype = artifact::DType(-1); },
     "programs[0]: values[4]: dtype -1 does not exist"},
    {"UnitNegative", [](ScheduleT &s) { dimOf(s, weight, 0).unit = -3; },
     "programs[0]: values[0]: dims[0]: extent 12 in blocks of -3"},
    {"PartNegative", [](ScheduleT &s) { dimOf(s, part, 1).parts = {{-2, 2, 1}, {14, 2, 1}}; },
     "programs[0]: values[5]: dims[1]: extent -2 is negative"},
    {"Repeat", [](ScheduleT &s) { dimOf(s, weight, 0).repeat = 0; },
     "programs[0]: values[0]: dims[0]: blocks that repeat 0 times"},
    {"RepeatInParts", [](ScheduleT &s) { dimOf(s, part, 1).repeat = 2; },
     "programs[0]: values[5]: dims[1]: blocks of 1 that repeat 2 times, although the dim has parts"},
    {"UnitBesideParts", [](ScheduleT &s) { dimOf(s, part, 1).unit = 2; },
     "programs[0]: values[5]: dims[1]: blocks of 2 that repeat 1 times, although the dim has parts"},
    {"RepeatOfAPart", [](ScheduleT &s) { dimOf(s, part, 1).parts = {{8, 2, 0}, {4, 2, 1}}; },
     "programs[0]: values[5]: dims[1]: blocks that repeat 0 times"},
    {"RepeatOfAPartOverflows", [](ScheduleT &s) { dimOf(s, part, 1).parts = {{8, 2, INT64_MAX / 4}, {4, 2, 1}}; },
     "programs[0]: values[5]: dims[1]: blocks that overflow"},
    {"RepeatOverflow", [](ScheduleT &s) { dimOf(s, weight, 0).repeat = INT64_MAX / 6; },
     "programs[0]: values[0]: dims[0]: blocks that overflow"},
    {"PartialAxis", [](ScheduleT &s) { valueOf(s, product).partial_axes = {artifact::AxisRef(5, 1, 3)}; },
     "programs[0]: values[3]: partial: axes[0]: axis 5 of a mesh with 2 axes"},
    {"TooLargeTogether",
     [](ScheduleT &s) {
       dimOf(s, weight, 0).extent = int64_t(1) << 40;
       dimOf(s, weight, 1).extent = 3 * (int64_t(1) << 30);
     },
     "programs[0]: values[0]: dims[1]: extent 3221225472 makes the tensor larger than the address space"},
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
     "programs[0]: values[0]: dims[0]: extent 12 in blocks of 5"},
    {"UnitZero", [](ScheduleT &s) { dimOf(s, weight, 0).unit = 0; },
     "programs[0]: values[0]: dims[0]: extent 12 in blocks of 0"},
    {"PartsSum", [](ScheduleT &s) { dimOf(s, part, 1).parts = {{8, 2, 1}, {2, 2, 1}}; },
     "programs[0]: values[5]: dims[1]: the parts sum to 10, extent is 12"},
    {"PartsUnit", [](ScheduleT &s) { dimOf(s, part, 1).parts = {{9, 2, 1}, {3, 1, 1}}; },
     "programs[0]: values[5]: dims[1]: extent 9 in blocks of 2"},
    {"PartsUnitZero", [](ScheduleT &s) { dimOf(s, part, 1).parts = {{12, 0, 1}}; },
     "programs[0]: values[5]: dims[1]: extent 12 in blocks of 0"},
    {"PartsOverflow", [](ScheduleT &s) { dimOf(s, part, 1).parts = {{INT64_MAX - 1, 1, 1}, {4, 1, 1}}; },
     "programs[0]: values[5]: dims[1]: parts that overflow"},
    {"Axis", [](ScheduleT &s) { dimOf(s, weight, 1).axes = {artifact::AxisRef(-1, 1, 3)}; },
     "programs[0]: values[0]: dims[1]: axes[0]: axis -1 of a mesh with 2 axes"},
    {"Digit", [](ScheduleT &s) { dimOf(s, weight, 1).axes = {artifact::AxisRef(1, 1, 2)}; },
     "programs[0]: values[0]: dims[1]: axes[0]: digit (1)2 of an axis of size 3"},
    {"AxisTwice", [](ScheduleT &s) { dimOf(s, input, 0).axes = {artifact::AxisRef(1, 1, 3)}; },
     "programs[0]: values[2]: dims[1]: axes[0]: axis 1 is used twice"},
    {"PartialAxisTwice", [](ScheduleT &s) { dimOf(s, product, 1).axes = {artifact::AxisRef(1, 1, 3)}; },
     "programs[0]: values[3]: partial: axes[0]: axis 1 is used twice"},
    {"TooLarge", [](ScheduleT &s) { dimOf(s, weight, 0).extent = int64_t(1) << 61; },
     "programs[0]: values[0]: dims[0]: extent 2305843009213693952 makes the tensor larger than the address space"},
};

INSTANTIATE_TEST_SUITE_P(Schedule, VerifySchedule, testing::ValuesIn(scheduleCases), nameOfCase);
INSTANTIATE_TEST_SUITE_P(Value, VerifySchedule, testing::ValuesIn(valueCases), nameOfCase);

TEST(VerifyMeaning, ValuesAtTheEdge) {
  ScheduleT schedule = buildSchedule();
  forwardOf(schedule).constants[0]->data.resize(8);
  valueOf(schedule, table).dims.clear(); // a scalar
  dimOf(schedule, weight, 0).extent = 0;
  dimOf(schedule, input, 1).repeat = 3;
  dimOf(schedule, whole, 1).parts = {{0, 4, 2}, {12, 6, 5}};
  EXPECT_EQ(verificationError(schedule), "");
}

TEST(VerifyMeaning, TheLargestMesh) {
  ScheduleT schedule = buildSchedule();
  schedule.mesh[0]->size = 2 * 357913941; // 3 times that is 2^31 - 2
  EXPECT_EQ(verificationError(schedule), "");
  schedule.mesh[0]->size += 2;
  EXPECT_EQ(verificationError(schedule), "mesh: axes[1]: the mesh has more than 2147483647 ranks");
}

/// The message for a value whose second dim is sharded by these digits of an axis of size 12.
std::string errorOfDigits(std::vector<artifact::AxisRef> digits) {
  ScheduleT schedule = buildSchedule();
  schedule.mesh[1]->size = 12;
  dimOf(schedule, input, 1).axes = std::move(digits);
  std::string message = verificationError(schedule), where = "programs[0]: values[2]: dims[1]: ";
  return message.starts_with(where) ? message.substr(where.size()) : message;
}

TEST(VerifyDigits, AreFactorsOfTheAxis) {
  for (int64_t pre : {-1, 0, 1, 2, 3, 4, 5, 6, 8, 12, 13})
    for (int64_t size : {-12, 0, 1, 2, 3, 4, 5, 6, 7, 12, 24}) {
      bool exists = false;
      for (int64_t post = 1; post <= 12; ++post)
        exists |= pre > 0 && size > 0 && pre * size * post == 12;
      std::string text = "(" + std::to_string(pre) + ")" + std::to_string(size);
      EXPECT_EQ(errorOfDigits({artifact::AxisRef(1, pre, size)}),
                exists ? "" : "axes[0]: digit " + text + " of an axis of size 12");
    }
}

TEST(VerifyDigits, HugeNumbersDoNotOverflow) {
  EXPECT_EQ(errorOfDigits({artifact::AxisRef(1, INT64_MAX, 2)}),
            "axes[0]: digit (9223372036854775807)2 of an axis of size 12");
  EXPECT_EQ(errorOfDigits({artifact::AxisRef(1, 2, INT64_MAX)}),
            "axes[0]: digit (2)9223372036854775807 of an axis of size 12");
}

TEST(VerifyDigits, OfOneAxisAreApart) {
  const artifact::AxisRef major(1, 1, 2), middle(1, 2, 3), minor(1, 6, 2);
  EXPECT_EQ(errorOfDigits({minor, major, middle}), "") << "in any order";
  const std::string second = "axes[1]: axis 1 is used twice";
  EXPECT_EQ(errorOfDigits({major, major}), second);
  EXPECT_EQ(errorOfDigits({artifact::AxisRef(1, 1, 12), minor}), second);
  EXPECT_EQ(errorOfDigits({minor, artifact::AxisRef(1, 1, 12)}), second);
  EXPECT_EQ(errorOfDigits({artifact::AxisRef(1, 1, 3), middle}), second);
  EXPECT_EQ(errorOfDigits({artifact::AxisRef(1, 3, 4), minor}), second);
  EXPECT_EQ(errorOfDigits({major, middle, artifact::AxisRef(1, 3, 2)}), "axes[2]: axis 1 is used twice");
}

} // namespace
} // namespace meshplan
