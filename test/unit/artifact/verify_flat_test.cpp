//===- verify_flat_test.cpp - flat values and collectives of several ------===//

#include "runtime/artifact/sharding.h"
#include "test/unit/artifact/refused_schedule.h"

namespace meshplan {
namespace {

using artifact::CollectiveKind;
using artifact::ScheduleT;

/// Values that addFlat appends to those of buildSchedule.
enum FlatValue { cut = testValueCount, otherCut, gathered, otherGathered, addend, otherAddend, total, otherTotal };

/// Instructions that it appends.
enum FlatInstruction {
  sliceCut = freePart + 1,
  sliceOther,
  startBucket,
  waitBucket,
  makeAddends,
  startScatter,
  waitScatter
};

int add(ScheduleT &s, const artifact::ValueT &like, std::vector<artifact::AxisRef> flat = {}) {
  artifact::ValueT value = like;
  value.flat_axes = std::move(flat);
  forwardOf(s).values.push_back(std::make_unique<artifact::ValueT>(value));
  return static_cast<int>(forwardOf(s).values.size()) - 1;
}

artifact::StartT start(CollectiveKind kind, int sequence, std::array<int, 2> inputs, std::array<int, 2> outputs) {
  artifact::StartT start;
  start.kind = kind;
  start.communicator = 1;
  start.sequence = sequence;
  start.input = inputs[0];
  start.output = outputs[0];
  start.more_inputs = {inputs[1]};
  start.more_outputs = {outputs[1]};
  return start;
}

artifact::SliceT slice(int input, int output) {
  artifact::SliceT slice;
  slice.input = input;
  slice.output = output;
  return slice;
}

/// `whole`, sliced twice over tp; the slices gathered in one collective; and addends over tp scattered to such slices.
ScheduleT buildFlat() {
  ScheduleT s = buildSchedule();
  const artifact::AxisRef tp(1, 1, 3);
  const artifact::ValueT whole = valueOf(s, TestValue::whole), product = valueOf(s, TestValue::product);
  for (int i = 0; i < 2; ++i)
    add(s, whole, {tp});
  for (int i = 0; i < 2; ++i)
    add(s, whole);
  for (int i = 0; i < 2; ++i)
    add(s, product);
  for (int i = 0; i < 2; ++i)
    add(s, whole, {tp});
  append(s, slice(TestValue::whole, cut));
  append(s, slice(TestValue::whole, otherCut));
  append(s, start(CollectiveKind::all_gather, 2, {cut, otherCut}, {gathered, otherGathered}));
  append(s, waitFor(2));
  artifact::ComputeT compute;
  compute.target = "aten.op";
  compute.outputs = {addend, otherAddend};
  append(s, compute);
  artifact::StartT scatter = start(CollectiveKind::reduce_scatter, 3, {addend, otherAddend}, {total, otherTotal});
  scatter.reduction = artifact::Reduction::sum;
  append(s, scatter);
  append(s, waitFor(3));
  return s;
}

artifact::ValueT &valueAt(ScheduleT &s, int value) { return *forwardOf(s).values[value]; }
artifact::StartT &startAt(ScheduleT &s, int instruction) {
  return *forwardOf(s).instructions[instruction]->action.AsStart();
}
artifact::SliceT &sliceAt(ScheduleT &s, int instruction) {
  return *forwardOf(s).instructions[instruction]->action.AsSlice();
}

TEST(VerifyFlat, AcceptsWhatFits) {
  EXPECT_EQ(verificationError(buildFlat()), "");
  ScheduleT schedule = buildFlat();
  forwardOf(schedule).outputs[0]->value = total; // an output may be flat
  EXPECT_EQ(verificationError(schedule), "");
}

class VerifyFlatCase : public testing::TestWithParam<WrongSchedule> {};

TEST_P(VerifyFlatCase, IsRefused) {
  ScheduleT schedule = buildFlat();
  GetParam().change(schedule);
  EXPECT_EQ(verificationError(schedule), std::string("programs[0]: ") + GetParam().message);
}

const WrongSchedule flatCases[] = {
    {"Axis", [](ScheduleT &s) { valueAt(s, cut).flat_axes = {artifact::AxisRef(7, 1, 3)}; },
     "values[7]: flat: axes[0]: axis 7 of a mesh with 2 axes"},
    {"AxisOfADim", [](ScheduleT &s) { valueAt(s, cut).flat_axes = {artifact::AxisRef(0, 1, 2)}; },
     "values[7]: flat: axes[0]: axis 0 is used twice"},
    {"GatherOverOtherRanks", [](ScheduleT &s) { startAt(s, startBucket).communicator = 0; },
     "instructions[10]: the flat axes are not those of the communicator"},
    {"GatherOfWhatIsNotFlat", [](ScheduleT &s) { valueAt(s, cut).flat_axes.clear(); },
     "instructions[10]: the flat axes are not those of the communicator"},
    {"GatherStaysFlat", [](ScheduleT &s) { valueAt(s, gathered).flat_axes = {artifact::AxisRef(1, 1, 3)}; },
     "instructions[10]: the flat axes are not those of the communicator"},
    {"GatherChangesDims", [](ScheduleT &s) { valueAt(s, gathered).dims[0]->axes.clear(); },
     "instructions[10]: dim 0 is sharded differently"},
    {"GatherAlongADim",
     [](ScheduleT &s) {
       startAt(s, startBucket).more_inputs.clear();
       startAt(s, startBucket).more_outputs.clear();
       startAt(s, startBucket).dim = 1;
     },
     "instructions[10]: a collective along a dim of a flat value"},
    {"ScatterLeavesAllWhole", [](ScheduleT &s) { valueAt(s, total).flat_axes.clear(); },
     "instructions[13]: the flat axes are not those of the communicator"},
    {"PermuteOfFlat",
     [](ScheduleT &s) {
       startAt(s, startBucket).kind = CollectiveKind::permute;
       startAt(s, startBucket).more_inputs.clear();
       startAt(s, startBucket).more_outputs.clear();
     },
     "instructions[10]: a collective along a dim of a flat value"},
    {"AllReduceMakesFlat", [](ScheduleT &s) { startAt(s, startScatter).kind = CollectiveKind::all_reduce; },
     "instructions[13]: the flat axes are not those of the communicator"},
    {"SliceLosesFlat", [](ScheduleT &s) { sliceAt(s, sliceOther) = slice(cut, otherGathered); },
     "instructions[9]: the flat axes of the input are not the first ones of the output"},
    {"SliceChangesDims", [](ScheduleT &s) { valueAt(s, cut).dims[0]->axes.clear(); },
     "instructions[8]: dim 0 is sharded differently"},
    {"FewerOutputs", [](ScheduleT &s) { startAt(s, startBucket).more_outputs.clear(); },
     "instructions[10]: 2 inputs and 1 outputs"},
    {"FewerInputs", [](ScheduleT &s) { startAt(s, startBucket).more_inputs.clear(); },
     "instructions[10]: 1 inputs and 2 outputs"},
    {"InputOfTheBucket", [](ScheduleT &s) { startAt(s, startBucket).more_inputs = {60}; },
     "instructions[10]: input: value 60 of 15"},
    {"OutputOfTheBucket", [](ScheduleT &s) { startAt(s, startBucket).more_outputs = {gathered}; },
     "instructions[10]: output: value 9 is defined twice"},
    {"SecondOfTheBucket", [](ScheduleT &s) { valueAt(s, otherGathered).dims[0]->axes.clear(); },
     "instructions[10]: dim 0 is sharded differently"},
    {"DTypesOfTheBucket",
     [](ScheduleT &s) {
       for (int value : {static_cast<int>(otherAddend), static_cast<int>(otherTotal)})
         valueAt(s, value).dtype = artifact::DType::bf16;
     },
     "instructions[13]: tensors of several dtypes in one collective"},
    {"BucketAlongADim",
     [](ScheduleT &s) {
       // Two gathers along dim 1, coalesced.
       for (int value : {static_cast<int>(cut), static_cast<int>(otherCut)}) {
         valueAt(s, value).flat_axes.clear();
         valueAt(s, value).dims[1]->axes = {artifact::AxisRef(1, 1, 3)};
       }
       startAt(s, startBucket).dim = 1;
     },
     "instructions[10]: several tensors, or a target, in a collective that moves one tensor along dims"},
    {"FreedInFlight",
     [](ScheduleT &s) {
       artifact::FreeT free;
       free.values = {otherCut};
       append(s, free);
       std::rotate(forwardOf(s).instructions.begin() + waitBucket, forwardOf(s).instructions.end() - 1,
                   forwardOf(s).instructions.end());
     },
     "instructions[11]: values[0]: value 8 is freed before the wait of a collective that reads it"},
    {"UsedInFlight",
     [](ScheduleT &s) {
       add(s, valueAt(s, otherCut), {artifact::AxisRef(1, 1, 3)});
       append(s, slice(otherGathered, otherTotal + 1));
       std::rotate(forwardOf(s).instructions.begin() + waitBucket, forwardOf(s).instructions.end() - 1,
                   forwardOf(s).instructions.end());
     },
     "instructions[11]: input: value 10 is used before the wait of its collective"},
    {"InputsAreNotFlat", [](ScheduleT &s) { valueOf(s, input).flat_axes = {artifact::AxisRef(1, 1, 1)}; },
     "inputs[0]: value 2 is flat"},
    {"ConstantsAreNotFlat", [](ScheduleT &s) { valueOf(s, table).flat_axes = {artifact::AxisRef(1, 1, 3)}; },
     "constants[0]: value 1 is flat"},
};

INSTANTIATE_TEST_SUITE_P(Flat, VerifyFlatCase, testing::ValuesIn(flatCases), nameOfCase);

/// Accumulators with the sizes of the scatter's results, in one buffer, and the scatter into them.
ScheduleT buildTargets() {
  ScheduleT s = buildFlat();
  artifact::ProgramT &program = forwardOf(s);
  auto buffer = std::make_unique<artifact::BufferT>();
  buffer->name = "gradients";
  for (const char *name : {"a", "b"}) {
    auto accumulator = std::make_unique<artifact::AccumulatorT>();
    accumulator->name = name;
    accumulator->value = add(s, valueAt(s, total), valueAt(s, total).flat_axes);
    buffer->values.push_back(accumulator->value);
    program.accumulators.push_back(std::move(accumulator));
  }
  startAt(s, startScatter).targets = buffer->values;
  program.buffers.push_back(std::move(buffer));
  return s;
}

constexpr int firstTarget = otherTotal + 1, secondTarget = otherTotal + 2;

TEST(VerifyTargets, AcceptsWhatFits) {
  EXPECT_EQ(verificationError(buildTargets()), "");
  ScheduleT s = buildTargets();
  auto update = std::make_unique<artifact::UpdateT>();
  update->value = update->target = firstTarget;
  forwardOf(s).updates.push_back(std::move(update));
  EXPECT_EQ(verificationError(s), "") << "an accumulator may be overwritten in the end";
}

class VerifyTargetsCase : public testing::TestWithParam<WrongSchedule> {};

TEST_P(VerifyTargetsCase, IsRefused) {
  ScheduleT schedule = buildTargets();
  GetParam().change(schedule);
  EXPECT_EQ(verificationError(schedule), std::string("programs[0]: ") + GetParam().message);
}

const WrongSchedule targetCases[] = {
    {"Unnamed", [](ScheduleT &s) { forwardOf(s).buffers[0]->name = ""; }, "buffers[0]: no name"},
    {"Empty", [](ScheduleT &s) { forwardOf(s).buffers[0]->values.clear(); }, "buffers[0]: no values"},
    {"OfAnInput", [](ScheduleT &s) { forwardOf(s).buffers[0]->values[1] = input; },
     "buffers[0]: values[1]: value 2 is neither a parameter nor an accumulator, or already belongs to a buffer"},
    {"OfNoValue", [](ScheduleT &s) { forwardOf(s).buffers[0]->values[1] = 99; },
     "buffers[0]: values[1]: value 99 is neither a parameter nor an accumulator, or already belongs to a buffer"},
    {"TwiceInABuffer", [](ScheduleT &s) { forwardOf(s).buffers[0]->values[1] = firstTarget; },
     "buffers[0]: values[1]: value 15 is neither a parameter nor an accumulator, or already belongs to a buffer"},
    {"OfSeveralDTypes", [](ScheduleT &s) { valueAt(s, secondTarget).dtype = artifact::DType::f64; },
     "buffers[0]: values[1]: value 16 has another dtype than the first"},
    {"LargerThanTheAddressSpace",
     [](ScheduleT &s) {
       for (int value : {firstTarget, secondTarget})
         valueAt(s, value).dims[0]->extent = int64_t(1) << 57;
     },
     "buffers[0]: values[1]: value 16 makes the buffer larger than the address space"},
    {"OnTheHost", [](ScheduleT &s) { valueAt(s, secondTarget).host = true; },
     "buffers[0]: values[1]: value 16 is on the host"},
    {"TargetOnTheHost",
     [](ScheduleT &s) {
       forwardOf(s).buffers.clear();
       valueAt(s, secondTarget).host = true;
     },
     "instructions[13]: value 16 is on the host"},
    {"NamedTwice",
     [](ScheduleT &s) {
       auto other = std::make_unique<artifact::BufferT>(*forwardOf(s).buffers[0]);
       other->values.erase(other->values.begin());
       forwardOf(s).buffers[0]->values.pop_back();
       forwardOf(s).buffers.push_back(std::move(other));
     },
     "buffers[1]: the name 'gradients' twice"},
    {"TargetIsAnOutput", [](ScheduleT &s) { startAt(s, startScatter).targets[1] = total; },
     "instructions[13]: target: value 13 is used before the wait of its collective"},
    {"TargetIsItsOwnOutput", [](ScheduleT &s) { startAt(s, startBucket).targets = {gathered, otherCut}; },
     "instructions[10]: target: value 9 is used before the wait of its collective"},
    {"TargetIsReadForAnotherOutput", [](ScheduleT &s) { startAt(s, startBucket).targets = {otherCut, cut}; },
     "instructions[10]: target 8 is overwritten before the wait of a collective that reads it"},
    {"MoreTargets", [](ScheduleT &s) { startAt(s, startScatter).targets.push_back(firstTarget); },
     "instructions[13]: 3 targets of 2 outputs"},
    {"TargetOfAnotherDType",
     [](ScheduleT &s) {
       forwardOf(s).buffers.clear();
       valueAt(s, firstTarget).dtype = artifact::DType::f64;
     },
     "instructions[13]: dtype f32 becomes f64"},
    {"ABucketOfExtremes",
     [](ScheduleT &s) {
       startAt(s, startScatter).reduction = artifact::Reduction::max;
       for (int value : {static_cast<int>(addend), static_cast<int>(otherAddend)})
         valueAt(s, value).partial = artifact::Reduction::max;
     },
     "instructions[13]: flat tensors, or several, in a reduction that is not a sum"},
    {"TargetOfAGatherAlongADim",
     [](ScheduleT &s) {
       auto accumulator = std::make_unique<artifact::AccumulatorT>();
       accumulator->name = "c";
       accumulator->value = add(s, valueAt(s, whole));
       startAt(s, startGather).targets = {accumulator->value};
       forwardOf(s).accumulators.push_back(std::move(accumulator));
     },
     "instructions[5]: several tensors, or a target, in a collective that moves one tensor along dims"},
    {"FewerTargets", [](ScheduleT &s) { startAt(s, startScatter).targets.pop_back(); },
     "instructions[13]: 1 targets of 2 outputs"},
    {"NoTarget", [](ScheduleT &s) { startAt(s, startScatter).targets[0] = 99; },
     "instructions[13]: target: value 99 of 17"},
    {"OneTargetForTwo", [](ScheduleT &s) { startAt(s, startScatter).targets[1] = firstTarget; },
     "instructions[13]: target: value 15 is used after it was overwritten"},
    {"TargetOfOtherAxes", [](ScheduleT &s) { valueAt(s, firstTarget).flat_axes.clear(); },
     "instructions[13]: the flat axes are not those of the communicator"},
    {"TargetOfOtherExtents", [](ScheduleT &s) { valueAt(s, firstTarget).dims[0]->extent += 2; },
     "instructions[13]: the global shape changes"},
    {"TargetIsReadBehind",
     [](ScheduleT &s) {
       add(s, valueAt(s, firstTarget), valueAt(s, firstTarget).flat_axes);
       append(s, slice(firstTarget, secondTarget + 1));
     },
     "instructions[15]: input: value 15 is used after it was overwritten"},
};

INSTANTIATE_TEST_SUITE_P(Targets, VerifyTargetsCase, testing::ValuesIn(targetCases), nameOfCase);

/// A state that starts as the parameter of value `weight`.
ScheduleT buildCopy(std::string parameter, int64_t rows) {
  ScheduleT s = buildSchedule();
  auto state = std::make_unique<artifact::StateT>();
  state->name = "lm_head.weight.master";
  state->parameter = std::move(parameter);
  state->copies = true;
  state->value = add(s, valueOf(s, weight));
  valueAt(s, state->value).dims[0]->extent = rows;
  valueAt(s, state->value).flat_axes = {artifact::AxisRef(0, 1, 2)};
  forwardOf(s).states.push_back(std::move(state));
  return s;
}

TEST(VerifyCopies, AreOfTheShapeOfTheirParameter) {
  EXPECT_EQ(verificationError(buildCopy("lm_head.weight", 12)), "");
  std::string place = "programs[0]: states[0]: it copies ";
  EXPECT_EQ(verificationError(buildCopy("lm_head.weight", 13)),
            place + "'lm_head.weight', which has another shape or is missing");
  EXPECT_EQ(verificationError(buildCopy("embed_tokens.weight", 12)),
            place + "'embed_tokens.weight', which has another shape or is missing")
      << "a parameter is named by its first name";
}

TEST(LocalShape, OfAFlatValueIsARun) {
  ScheduleT s = buildFlat();
  size_t size;
  std::vector<uint64_t> bytes = pack(s, size);
  auto schedule = verifySchedule(std::as_bytes(std::span(bytes)).first(size));
  ASSERT_TRUE(schedule.ok());
  const artifact::Value &value = *(*schedule)->programs()->Get(0)->values()->Get(cut);
  const int64_t mesh[] = {2, 3};
  // 8 x 12 elements; the sharded dims leave 48 to a rank.
  for (int64_t rank = 0; rank < 6; ++rank) {
    std::vector<int64_t> coordinate = coordinateOfRank(rank, mesh);
    EXPECT_EQ(localShapeOf(value, mesh, coordinate), std::vector<int64_t>{16});
    EXPECT_EQ(localRunOf(value, mesh, coordinate), (Range{rank % 3 * 16, 16}));
    EXPECT_EQ(localRangesOf(value, mesh, coordinate)[0], (std::vector<Range>{{rank / 3 * 4, 4}}));
  }
}

} // namespace
} // namespace meshplan
