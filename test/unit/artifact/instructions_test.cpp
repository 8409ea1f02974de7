//===- instructions_test.cpp - every rule about instructions --------------===//

#include "test/unit/artifact/build_schedule.h"

#include <gmock/gmock.h>

namespace meshplan {
namespace {

using artifact::CollectiveKind;
using artifact::IntExpr;
using artifact::ScheduleT;

struct Case {
  const char *name;
  void (*change)(ScheduleT &);
  const char *message; // after "programs[0]: instructions["
};

class Instructions : public testing::TestWithParam<Case> {};

TEST_P(Instructions, AreRefused) {
  ScheduleT schedule = buildSchedule();
  GetParam().change(schedule);
  EXPECT_EQ(verificationError(schedule), std::string("programs[0]: instructions[") + GetParam().message);
}

artifact::InstructionT &at(ScheduleT &s, size_t index) { return *forwardOf(s).instructions[index]; }

void erase(ScheduleT &s, size_t index) {
  forwardOf(s).instructions.erase(forwardOf(s).instructions.begin() + static_cast<std::ptrdiff_t>(index));
}

const Case computeCases[] = {
    {"Stream", [](ScheduleT &s) { at(s, linear).stream = 2; }, "0]: stream 2 of 2"},
    {"Origin", [](ScheduleT &s) { at(s, linear).origin = 1; }, "0]: origin 1 of 1"},
    {"Target", [](ScheduleT &s) { at(s, linear).action.AsCompute()->target = ""; }, "0]: no target"},
    {"Output", [](ScheduleT &s) { at(s, linear).action.AsCompute()->outputs = {12}; }, "0]: outputs[0]: value 12 of 7"},
    {"OutputTwice", [](ScheduleT &s) { at(s, linear).action.AsCompute()->outputs = {input}; },
     "0]: outputs[0]: value 2 is defined twice"},
    {"ArgKind", [](ScheduleT &s) { argOf(s, 0).kind = artifact::ArgKind(77); }, "0]: args[0]: kind 77 does not exist"},
    {"ArgValueCount", [](ScheduleT &s) { argOf(s, 0).values.clear(); }, "0]: args[0]: 0 elements instead of one"},
    {"ArgValue", [](ScheduleT &s) { argOf(s, 0).values = {-1}; }, "0]: args[0]: value -1 of 7"},
    {"ArgUndefined", [](ScheduleT &s) { argOf(s, 0).values = {sum}; },
     "0]: args[0]: value 4 is used before it is defined"},
    {"ArgList", [](ScheduleT &s) { argOf(s, 1).values = {weight, product}; },
     "0]: args[1]: values[1]: value 3 is used before it is defined"},
    {"ArgIntCount", [](ScheduleT &s) { argOf(s, 3).ints.clear(); }, "0]: args[3]: 0 elements instead of one"},
    {"ArgIntValue", [](ScheduleT &s) { argOf(s, 3).ints = {IntExpr(0, 9, 0, 0, 1)}; }, "0]: args[3]: value 9 of 7"},
    {"ArgIntDim", [](ScheduleT &s) { argOf(s, 4).ints = {IntExpr(0, input, 2, 0, 1)}; },
     "0]: args[4]: ints[0]: dim 2 of 2"},
    {"ArgIntParts", [](ScheduleT &s) { argOf(s, 3).ints = {IntExpr(0, part, 1, 1, 0)}; },
     "0]: args[3]: the offset of dim 1 of value 5, which has parts"},
    {"ArgReal", [](ScheduleT &s) { argOf(s, 5).reals = {1, 2}; }, "0]: args[5]: 2 elements instead of one"},
    {"ArgBoolean", [](ScheduleT &s) { argOf(s, 6).bools.clear(); }, "0]: args[6]: 0 elements instead of one"},
    {"ArgString", [](ScheduleT &s) { argOf(s, 7).text.clear(); }, "0]: args[7]: no text"},
    {"ArgDType", [](ScheduleT &s) { argOf(s, 8).dtype = artifact::DType(-3); }, "0]: args[8]: dtype -3 does not exist"},
};

const Case lifetimeCases[] = {
    {"FreeTwice", [](ScheduleT &s) { at(s, freeProduct).action.AsFree()->values = {product, product}; },
     "3]: values[1]: value 3 is used after it was freed"},
    {"FreeUndefined", [](ScheduleT &s) { at(s, freeProduct).action.AsFree()->values = {whole}; },
     "3]: values[0]: value 6 is used before it is defined"},
    {"FreeInFlight", [](ScheduleT &s) { std::swap(at(s, waitSum).action, at(s, freeProduct).action); },
     "2]: values[0]: value 3 is freed before the wait of a collective that reads it"},
    {"UseAfterFree", [](ScheduleT &s) { at(s, slicePart).action.AsSlice()->input = product; },
     "4]: input: value 3 is used after it was freed"},
    {"UseInFlight", [](ScheduleT &s) { std::swap(at(s, waitSum).action, at(s, slicePart).action); },
     "2]: input: value 4 is used before the wait of its collective"},
    {"WaitTwice",
     [](ScheduleT &s) {
       artifact::WaitT wait;
       wait.sequence = 1;
       append(s, wait);
     },
     "8]: no collective 1 is in flight"},
    {"WaitUnknown", [](ScheduleT &s) { at(s, waitSum).action.AsWait()->sequence = 5; },
     "2]: no collective 5 is in flight"},
    {"Sequence", [](ScheduleT &s) { startOf(s, startGather).sequence = 0; }, "5]: sequence 0 after 0"},
};

const Case collectiveCases[] = {
    {"Communicator", [](ScheduleT &s) { startOf(s, startSum).communicator = -1; }, "1]: communicator -1 of 2"},
    {"Input", [](ScheduleT &s) { startOf(s, startSum).input = 50; }, "1]: input: value 50 of 7"},
    {"Output", [](ScheduleT &s) { startOf(s, startSum).output = product; }, "1]: output: value 3 is defined twice"},
    {"Kind", [](ScheduleT &s) { startOf(s, startSum).kind = CollectiveKind(9); }, "1]: kind 9 does not exist"},
    {"DType", [](ScheduleT &s) { valueOf(s, sum).dtype = artifact::DType::bf16; }, "1]: dtype f32 becomes bf16"},
    {"Shape", [](ScheduleT &s) { valueOf(s, sum).dims[1]->extent = 13; }, "1]: the global shape changes"},
    {"Reduction", [](ScheduleT &s) { startOf(s, startSum).reduction = artifact::Reduction::none; },
     "1]: reduction 0 in a reducing collective"},
    {"OtherReduction", [](ScheduleT &s) { startOf(s, startSum).reduction = artifact::Reduction::max; },
     "1]: the reduction is not that of the partial input"},
    {"AllReduceSplits", [](ScheduleT &s) { valueOf(s, sum).dims[1]->axes = {artifact::AxisRef(1, 1, 3)}; },
     "1]: dim 1 has 3 shards, 1 x 1 expected"},
    {"GatherDim", [](ScheduleT &s) { startOf(s, startGather).dim = 2; }, "5]: dim 2 of 2"},
    {"GatherOtherDim", [](ScheduleT &s) { startOf(s, startGather).dim = 0; }, "5]: dim 0 has 2 shards, 2 x 3 expected"},
    {"GatherCommunicator", [](ScheduleT &s) { startOf(s, startGather).communicator = 0; },
     "5]: dim 1 has 3 shards, 1 x 2 expected"},
    {"ScatterDim",
     [](ScheduleT &s) {
       startOf(s, startSum).kind = CollectiveKind::reduce_scatter;
       startOf(s, startSum).dim = 1;
     },
     "1]: dim 1 has 1 shards, 1 x 3 expected"},
    {"AllToAllFromDim", [](ScheduleT &s) { startOf(s, startGather).kind = CollectiveKind::all_to_all; },
     "5]: from_dim -1 of 2"},
    {"AllToAllDims",
     [](ScheduleT &s) {
       startOf(s, startGather).kind = CollectiveKind::all_to_all;
       startOf(s, startGather).from_dim = 1;
     },
     "5]: dim and from_dim are both 1"},
    {"Slice", [](ScheduleT &s) { valueOf(s, part).dims[0]->axes.clear(); },
     "4]: dim 0 has 2 shards and is sliced into 1"},
    {"DevicesOfItsOwn",
     [](ScheduleT &s) {
       for (const auto &axis : s.mesh)
         forwardOf(s).devices.push_back(std::make_unique<artifact::AxisT>(*axis));
     },
     "1]: a collective in a program with devices of its own"},
};

std::string caseName(const testing::TestParamInfo<Case> &info) { return info.param.name; }

INSTANTIATE_TEST_SUITE_P(Compute, Instructions, testing::ValuesIn(computeCases), caseName);
INSTANTIATE_TEST_SUITE_P(Lifetime, Instructions, testing::ValuesIn(lifetimeCases), caseName);
INSTANTIATE_TEST_SUITE_P(Collective, Instructions, testing::ValuesIn(collectiveCases), caseName);

TEST(InstructionOrder, AStartNeedsAWait) {
  ScheduleT schedule = buildSchedule();
  erase(schedule, freePart);
  erase(schedule, waitGather);
  EXPECT_EQ(verificationError(schedule), "programs[0]: collective 1 has no wait");
}

TEST(InstructionOrder, TheInputOfACollectiveMayBeReadInFlight) {
  ScheduleT schedule = buildSchedule();
  // The gather reads `part`; a second compute reads it before the wait.
  auto &instructions = forwardOf(schedule).instructions;
  artifact::ComputeT compute;
  compute.target = "aten.relu.default";
  auto arg = std::make_unique<artifact::ArgT>();
  arg->kind = artifact::ArgKind::value;
  arg->values = {part};
  compute.args.push_back(std::move(arg));
  append(schedule, std::move(compute));
  std::rotate(instructions.begin() + waitGather, instructions.end() - 1, instructions.end());
  EXPECT_EQ(verificationError(schedule), "");
}

TEST(InstructionOrder, AllToAllMovesTheSplit) {
  ScheduleT schedule = buildSchedule();
  artifact::StartT &start = startOf(schedule, startGather);
  start.kind = CollectiveKind::all_to_all;
  start.dim = 0;
  start.from_dim = 1;
  valueOf(schedule, whole).dims[0]->axes = {artifact::AxisRef(0, 1, 2), artifact::AxisRef(1, 1, 3)};
  EXPECT_EQ(verificationError(schedule), "");
}

} // namespace
} // namespace meshplan
