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
    {"Reserve", [](ScheduleT &, artifact::ValueT &rows) { rows.routed->reserve = 0.5; },
     "values[7]: routed: a reserve of 0.5, must be at least 1"},
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
     "instructions[1]: a sum of rows of experts changes what a rank stores, or has a target"},
    {"Slice",
     [](ScheduleT &s, artifact::ValueT &) { valueOf(s, part).routed = routed(artifact::RoutedKind::rows, 2, 2); },
     "instructions[4]: rows of experts become a value that is stored in another way"},
    {"SliceOfRows",
     [](ScheduleT &s, artifact::ValueT &) {
       for (auto index : {product, sum, part})
         valueOf(s, index).routed = routed(artifact::RoutedKind::rows, 2, 2);
     },
     "instructions[4]: rows of experts change along dim 1, which is not one of their features"},
};

INSTANTIATE_TEST_SUITE_P(Cases, WrongRouted, testing::ValuesIn(cases),
                         [](const testing::TestParamInfo<RoutedCase> &info) { return info.param.name; });

//===----------------------------------------------------------------------===//
// Exchanges
//===----------------------------------------------------------------------===//

/// What the exchanges move: rows [8 experts, 4 tokens over dp, 6 features] of each rank's tokens go to the ranks of
/// their experts, where they are arrivals [8 over dp, 4, 6], and come back.
enum ExchangedValue { rows = testValueCount, counts, arrivals, back };
enum ExchangeStep { makeRows = freePart + 1, startThere, waitThere, startBack, waitBack };

std::unique_ptr<artifact::DimT> dimOver(int64_t extent, std::vector<artifact::AxisRef> axes = {}) {
  auto dim = std::make_unique<artifact::DimT>();
  dim->extent = extent;
  dim->axes = std::move(axes);
  return dim;
}

const artifact::AxisRef dpAxis(0, 1, 2), tpAxis(1, 1, 3);

artifact::ValueT &addValue(ScheduleT &schedule, artifact::DType dtype) {
  artifact::ValueT &value = *forwardOf(schedule).values.emplace_back(std::make_unique<artifact::ValueT>());
  value.dtype = dtype;
  return value;
}

void addExchanged(ScheduleT &schedule, artifact::RoutedKind kind, std::vector<artifact::AxisRef> experts,
                  std::vector<artifact::AxisRef> tokens) {
  artifact::ValueT &value = addValue(schedule, artifact::DType::f32);
  value.routed = routed(kind, 2, 2);
  value.dims.push_back(dimOver(8, std::move(experts)));
  value.dims.push_back(dimOver(4, std::move(tokens)));
  value.dims.push_back(dimOver(6));
}

artifact::StartT exchange(int from, int to, int sequence) {
  artifact::StartT start;
  start.kind = artifact::CollectiveKind::all_to_all;
  start.communicator = 0;
  start.input = from;
  start.output = to;
  start.sequence = sequence;
  start.counts = counts;
  return start;
}

ScheduleT buildExchange() {
  ScheduleT schedule = buildSchedule();
  addExchanged(schedule, artifact::RoutedKind::rows, {}, {dpAxis});
  artifact::ValueT &numbers = addValue(schedule, artifact::DType::i64);
  numbers.dims.push_back(dimOver(2));
  numbers.dims.push_back(dimOver(8));
  addExchanged(schedule, artifact::RoutedKind::arrivals, {dpAxis}, {});
  addExchanged(schedule, artifact::RoutedKind::rows, {}, {dpAxis});
  artifact::ComputeT compute;
  compute.target = "aten.op";
  compute.outputs = {rows, counts};
  append(schedule, compute);
  append(schedule, exchange(rows, arrivals, 2));
  append(schedule, waitFor(2));
  append(schedule, exchange(arrivals, back, 3));
  append(schedule, waitFor(3));
  return schedule;
}

artifact::ValueT &exchangedValue(ScheduleT &schedule, int value) { return *forwardOf(schedule).values[value]; }

artifact::StartT &exchangeOf(ScheduleT &schedule, ExchangeStep step) {
  return *forwardOf(schedule).instructions[step]->action.AsStart();
}

TEST(VerifyRouted, RowsAreExchanged) {
  ScheduleT schedule = buildExchange();
  EXPECT_EQ(verificationError(schedule), "");
}

/// Experts that the group of the exchange does not divide stay where they are, and so do tokens over other axes.
TEST(VerifyRouted, RowsAreExchangedBelowOtherAxes) {
  ScheduleT schedule = buildExchange();
  exchangedValue(schedule, counts).dims[1]->axes = {tpAxis};
  exchangedValue(schedule, rows).dims[0]->axes = exchangedValue(schedule, back).dims[0]->axes = {tpAxis};
  exchangedValue(schedule, arrivals).dims[0]->axes = {tpAxis, dpAxis};
  EXPECT_EQ(verificationError(schedule), "");
  schedule = buildExchange();
  exchangedValue(schedule, rows).dims[1]->axes = exchangedValue(schedule, back).dims[1]->axes = {tpAxis, dpAxis};
  exchangedValue(schedule, arrivals).dims[1]->axes = {tpAxis};
  EXPECT_EQ(verificationError(schedule), "");
}

struct ExchangeCase {
  const char *name;
  void (*change)(ScheduleT &);
  const char *message;
};

class WrongExchange : public testing::TestWithParam<ExchangeCase> {};

TEST_P(WrongExchange, IsRefused) {
  ScheduleT schedule = buildExchange();
  GetParam().change(schedule);
  EXPECT_EQ(verificationError(schedule), std::string("programs[0]: instructions[") + GetParam().message);
}

const ExchangeCase exchangeCases[] = {
    {"NoCounts", [](ScheduleT &s) { exchangeOf(s, startThere).counts = -1; },
     "9]: a value that is routed to experts is moved"},
    {"Kind", [](ScheduleT &s) { exchangeOf(s, startThere).kind = artifact::CollectiveKind::permute; },
     "9]: an exchange that does not turn rows into arrivals, or arrivals into rows, by an all_to_all"},
    {"RowsToRows", [](ScheduleT &s) { exchangedValue(s, arrivals).routed->kind = artifact::RoutedKind::rows; },
     "9]: an exchange that does not turn rows into arrivals, or arrivals into rows, by an all_to_all"},
    {"NotRouted", [](ScheduleT &s) { exchangedValue(s, back).routed.reset(); },
     "11]: an exchange that does not turn rows into arrivals, or arrivals into rows, by an all_to_all"},
    {"Dim", [](ScheduleT &s) { exchangeOf(s, startThere).dim = 0; }, "9]: an exchange of rows with a dim or a target"},
    {"FromDim", [](ScheduleT &s) { exchangeOf(s, startThere).from_dim = 1; },
     "9]: an exchange of rows with a dim or a target"},
    {"Target", [](ScheduleT &s) { exchangeOf(s, startBack).target = rows; },
     "11]: a value that is routed to experts is moved"},
    {"Dtype", [](ScheduleT &s) { exchangedValue(s, arrivals).dtype = artifact::DType::bf16; },
     "9]: an exchange changes the tensor"},
    {"Shape", [](ScheduleT &s) { exchangedValue(s, arrivals).dims[2]->extent = 5; },
     "9]: an exchange changes the tensor"},
    {"Dims", [](ScheduleT &s) { exchangedValue(s, arrivals).routed->dims = 3; }, "9]: an exchange changes the tensor"},
    {"Slots", [](ScheduleT &s) { exchangedValue(s, back).routed->slots = 3; }, "11]: an exchange changes the tensor"},
    {"Partial",
     [](ScheduleT &s) {
       exchangedValue(s, arrivals).partial = artifact::Reduction::sum;
       exchangedValue(s, arrivals).partial_axes = {tpAxis};
     },
     "9]: the output is not partial over the remaining axes of the input"},
    {"ExpertsOfArrivals", [](ScheduleT &s) { exchangedValue(s, arrivals).dims[0]->axes = {tpAxis}; },
     "9]: dim 0 of the arrivals is not divided as an exchange over this group leaves it"},
    {"TokensOfArrivals", [](ScheduleT &s) { exchangedValue(s, arrivals).dims[1]->axes = {tpAxis}; },
     "9]: dim 1 of the arrivals is not divided as an exchange over this group leaves it"},
    {"Features", [](ScheduleT &s) { exchangedValue(s, back).dims[2]->axes = {tpAxis}; },
     "11]: dim 2 of the arrivals is not divided as an exchange over this group leaves it"},
    {"BlocksOfFeatures",
     [](ScheduleT &s) {
       for (int value : {rows, arrivals, back})
         exchangedValue(s, value).dims[2]->axes = {tpAxis};
       exchangedValue(s, arrivals).dims[2]->unit = 3;
     },
     "9]: dim 2 of the arrivals has other blocks than that of the rows"},
    {"BlocksOfExperts", [](ScheduleT &s) { exchangedValue(s, arrivals).dims[0]->unit = 2; },
     "9]: dim 0 of the arrivals has other blocks than that of the rows"},
    {"PartsOfExperts",
     [](ScheduleT &s) {
       for (int value : {rows, counts, back})
         exchangedValue(s, value).dims[value == counts ? 1 : 0]->parts = {{4, 1, 1}, {4, 1, 1}};
     },
     "9]: an exchange of rows whose experts have parts or are shared"},
    {"OtherCommunicator",
     [](ScheduleT &s) {
       exchangeOf(s, startThere).communicator = 1;
       exchangedValue(s, counts).dims[0]->extent = 3;
       exchangedValue(s, arrivals).dims[0]->axes = {tpAxis};
       exchangedValue(s, arrivals).dims[1]->axes = {dpAxis};
     },
     "9]: axis 1 of the communicator does not divide the tokens of the rows"},
    {"CountsOutOfRange", [](ScheduleT &s) { exchangeOf(s, startThere).counts = 99; }, "9]: counts: value 99 of 11"},
    {"CountsNotComputed",
     [](ScheduleT &s) { forwardOf(s).instructions[makeRows]->action.AsCompute()->outputs = {rows, -1}; },
     "9]: counts: value 8 is used before it is defined"},
    {"CountsDtype", [](ScheduleT &s) { exchangedValue(s, counts).dtype = artifact::DType::i32; },
     "9]: counts: value 8 is not i64 [2, experts]"},
    {"CountsRank", [](ScheduleT &s) { exchangedValue(s, counts).dims.pop_back(); },
     "9]: counts: value 8 is not i64 [2, experts]"},
    {"CountsOfOneRank", [](ScheduleT &s) { exchangedValue(s, counts).dims[0]->extent = 1; },
     "9]: counts: value 8 is not i64 [2, experts]"},
    {"CountsOfOtherExperts", [](ScheduleT &s) { exchangedValue(s, counts).dims[1]->extent = 4; },
     "9]: counts: value 8 is not i64 [2, experts]"},
    {"CountsDividedByRank", [](ScheduleT &s) { exchangedValue(s, counts).dims[0]->axes = {dpAxis}; },
     "9]: counts: value 8 is not i64 [2, experts]"},
    {"CountsDividedByExpert", [](ScheduleT &s) { exchangedValue(s, counts).dims[1]->axes = {dpAxis}; },
     "9]: counts: value 8 is not divided as the experts of the rows"},
    {"CountsOfAddends",
     [](ScheduleT &s) {
       exchangedValue(s, counts).partial = artifact::Reduction::sum;
       exchangedValue(s, counts).partial_axes = {dpAxis};
     },
     "9]: counts: value 8 is not i64 [2, experts]"},
    {"CountsRouted",
     [](ScheduleT &s) { exchangedValue(s, counts).routed = routed(artifact::RoutedKind::counts, 2, 2); },
     "9]: counts: value 8 is not i64 [2, experts]"},
};

INSTANTIATE_TEST_SUITE_P(Cases, WrongExchange, testing::ValuesIn(exchangeCases),
                         [](const testing::TestParamInfo<ExchangeCase> &info) { return info.param.name; });

} // namespace
} // namespace meshplan
