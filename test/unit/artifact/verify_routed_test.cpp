//===- verify_routed_test.cpp - values that are routed to experts ---------===//

#include "runtime/artifact/sharding.h"
#include "test/unit/artifact/refused_schedule.h"

namespace meshplan {
namespace {

using artifact::ScheduleT;
using testing::ElementsAre;

/// A value of an instruction that is computed and freed: "product", [8 over dp, 12] as tokens of 8 experts. The linear
/// makes it, and a second one reads it.
std::unique_ptr<artifact::RoutedT> routed(artifact::RoutedKind kind, int dims, int64_t slots) {
  auto table = std::make_unique<artifact::RoutedT>();
  table->kind = kind;
  table->dims = dims;
  table->slots = slots;
  return table;
}

artifact::ValueT &addRows(ScheduleT &schedule) {
  artifact::ProgramT &program = forwardOf(schedule);
  artifact::ValueT &value = *program.values.emplace_back(std::make_unique<artifact::ValueT>(valueOf(schedule, input)));
  value.routed = routed(artifact::RoutedKind::rows, 2, 2);
  artifact::ComputeT compute = *program.instructions[linear]->action.AsCompute();
  compute.outputs = {static_cast<int>(program.values.size()) - 1};
  append(schedule, compute);
  return value;
}

TEST(VerifyRouted, RowsOfChosenExpertsAreComputed) {
  ScheduleT schedule = buildSchedule();
  addRows(schedule);
  EXPECT_EQ(verificationError(schedule), "");
}

struct RoutedCase {
  const char *name;
  void (*change)(ScheduleT &, artifact::ValueT &);
  const char *message;
};

class WrongRouted : public testing::TestWithParam<RoutedCase> {};

TEST_P(WrongRouted, IsRefused) {
  ScheduleT schedule = buildSchedule();
  GetParam().change(schedule, addRows(schedule));
  EXPECT_EQ(verificationError(schedule), std::string("programs[0]: ") + GetParam().message);
}

const RoutedCase cases[] = {
    {"Kind", [](ScheduleT &, artifact::ValueT &rows) { rows.routed->kind = static_cast<artifact::RoutedKind>(7); },
     "values[7]: routed: kind 7 does not exist"},
    {"FewDims", [](ScheduleT &, artifact::ValueT &rows) { rows.routed->dims = 1; },
     "values[7]: routed: 1 dims of experts and tokens of a value of rank 2"},
    {"ManyDims", [](ScheduleT &, artifact::ValueT &rows) { rows.routed->dims = 3; },
     "values[7]: routed: 3 dims of experts and tokens of a value of rank 2"},
    {"CountsWithFeatures",
     [](ScheduleT &, artifact::ValueT &rows) {
       rows.dims.push_back(std::make_unique<artifact::DimT>(*rows.dims[0]));
       rows.dims.back()->axes.clear();
       rows.routed->kind = artifact::RoutedKind::counts;
     },
     "values[7]: routed: 2 dims of experts and tokens of a value of rank 3"},
    {"NoSlot", [](ScheduleT &, artifact::ValueT &rows) { rows.routed->slots = 0; },
     "values[7]: routed: a token chooses 0 of 8 experts"},
    {"MoreSlotsThanExperts", [](ScheduleT &, artifact::ValueT &rows) { rows.routed->slots = 9; },
     "values[7]: routed: a token chooses 9 of 8 experts"},
    {"OnTheHost", [](ScheduleT &, artifact::ValueT &rows) { rows.host = true; },
     "values[7]: routed: a routed value that is copied to host memory"},
    {"Flat",
     [](ScheduleT &, artifact::ValueT &rows) {
       for (auto &dim : rows.dims)
         dim->axes.clear();
       rows.flat_axes = {artifact::AxisRef(0, 1, 2)};
     },
     "values[7]: routed: a routed value that is flat"},
    {"Output", [](ScheduleT &s, artifact::ValueT &) { forwardOf(s).outputs[0]->value = 7; },
     "outputs[0]: value 7 is routed to experts: it has no tensor outside of its rank"},
    {"Input",
     [](ScheduleT &s, artifact::ValueT &) { valueOf(s, input).routed = routed(artifact::RoutedKind::rows, 2, 2); },
     "inputs[0]: value 2 is routed to experts, and no instruction makes it"},
    {"Collective",
     [](ScheduleT &s, artifact::ValueT &) { valueOf(s, product).routed = routed(artifact::RoutedKind::rows, 2, 2); },
     "instructions[1]: a value that is routed to experts is moved"},
    {"Slice",
     [](ScheduleT &s, artifact::ValueT &) { valueOf(s, part).routed = routed(artifact::RoutedKind::rows, 2, 2); },
     "instructions[4]: a value that is routed to experts is moved"},
};

INSTANTIATE_TEST_SUITE_P(Cases, WrongRouted, testing::ValuesIn(cases),
                         [](const testing::TestParamInfo<RoutedCase> &info) { return info.param.name; });

} // namespace
} // namespace meshplan
