//===- verify_flat_test.cpp - flat values and collectives of several ------===//

#include "runtime/artifact/sharding.h"
#include "test/unit/artifact/refused_schedule.h"

namespace meshplan {
namespace {

using artifact::CollectiveKind;
using artifact::ScheduleT;

/// Values that buildFlat appends to those of buildSchedule. The last four are packed.
enum FlatValue {
  cut = testValueCount,
  otherCut,
  gathered,
  otherGathered,
  addend,
  otherAddend,
  total,
  otherTotal,
  sent,
  received,
  sentAddends,
  receivedTotals
};

/// Instructions that it appends.
enum FlatInstruction {
  sliceCut = freePart + 1,
  sliceOther,
  packCuts,
  startBucket,
  waitBucket,
  unpackGathered,
  makeAddends,
  packAddends,
  startScatter,
  waitScatter,
  unpackTotals
};

int add(ScheduleT &s, const artifact::ValueT &like, std::vector<artifact::AxisRef> flat = {}) {
  artifact::ValueT value = like;
  value.flat_axes = std::move(flat);
  forwardOf(s).values.push_back(std::make_unique<artifact::ValueT>(value));
  return static_cast<int>(forwardOf(s).values.size()) - 1;
}

int addPacked(ScheduleT &s, std::vector<int> members) {
  artifact::ValueT value;
  value.dtype = artifact::DType::f32;
  value.members = std::move(members);
  forwardOf(s).values.push_back(std::make_unique<artifact::ValueT>(value));
  return static_cast<int>(forwardOf(s).values.size()) - 1;
}

artifact::StartT start(CollectiveKind kind, int sequence, int input, int output) {
  artifact::StartT start;
  start.kind = kind;
  start.communicator = 1;
  start.sequence = sequence;
  start.input = input;
  start.output = output;
  return start;
}

artifact::PackRunT packOf(std::vector<int> inputs, int output, bool inPlace = false) {
  artifact::PackRunT pack;
  pack.inputs = std::move(inputs);
  pack.output = output;
  pack.in_place = inPlace;
  return pack;
}

artifact::UnpackRunT unpackOf(int input, std::vector<int> outputs) {
  artifact::UnpackRunT unpack;
  unpack.input = input;
  unpack.outputs = std::move(outputs);
  return unpack;
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
  addPacked(s, {cut, otherCut});
  addPacked(s, {gathered, otherGathered});
  addPacked(s, {addend, otherAddend});
  addPacked(s, {total, otherTotal});
  append(s, slice(TestValue::whole, cut));
  append(s, slice(TestValue::whole, otherCut));
  append(s, packOf({cut, otherCut}, sent));
  append(s, start(CollectiveKind::all_gather, 2, sent, received));
  append(s, waitFor(2));
  append(s, unpackOf(received, {gathered, otherGathered}));
  artifact::ComputeT compute;
  compute.target = "aten.op";
  compute.outputs = {addend, otherAddend};
  append(s, compute);
  append(s, packOf({addend, otherAddend}, sentAddends));
  artifact::StartT scatter = start(CollectiveKind::reduce_scatter, 3, sentAddends, receivedTotals);
  scatter.reduction = artifact::Reduction::sum;
  append(s, scatter);
  append(s, waitFor(3));
  append(s, unpackOf(receivedTotals, {total, otherTotal}));
  return s;
}

artifact::ValueT &valueAt(ScheduleT &s, int value) { return *forwardOf(s).values[value]; }
artifact::StartT &startAt(ScheduleT &s, int instruction) {
  return *forwardOf(s).instructions[instruction]->action.AsStart();
}
artifact::PackRunT &packAt(ScheduleT &s, int instruction) {
  return *forwardOf(s).instructions[instruction]->action.AsPackRun();
}
artifact::UnpackRunT &unpackAt(ScheduleT &s, int instruction) {
  return *forwardOf(s).instructions[instruction]->action.AsUnpackRun();
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
     "instructions[11]: the flat axes are not those of the communicator"},
    {"GatherOfWhatIsNotFlat", [](ScheduleT &s) { valueAt(s, cut).flat_axes.clear(); },
     "instructions[11]: the flat axes are not those of the communicator"},
    {"GatherStaysFlat", [](ScheduleT &s) { valueAt(s, gathered).flat_axes = {artifact::AxisRef(1, 1, 3)}; },
     "instructions[11]: the flat axes are not those of the communicator"},
    {"GatherChangesDims", [](ScheduleT &s) { valueAt(s, gathered).dims[0]->axes.clear(); },
     "instructions[11]: dim 0 is sharded differently"},
    {"GatherAlongADim", [](ScheduleT &s) { startAt(s, startBucket).dim = 1; },
     "instructions[11]: a collective along a dim of a flat value"},
    {"ScatterLeavesAllWhole", [](ScheduleT &s) { valueAt(s, total).flat_axes.clear(); },
     "instructions[16]: the flat axes are not those of the communicator"},
    {"PermuteOfFlat", [](ScheduleT &s) { startAt(s, startBucket).kind = CollectiveKind::permute; },
     "instructions[11]: a collective along a dim of a flat value"},
    {"AllReduceMakesFlat", [](ScheduleT &s) { startAt(s, startScatter).kind = CollectiveKind::all_reduce; },
     "instructions[16]: the flat axes are not those of the communicator"},
    {"SliceLosesFlat", [](ScheduleT &s) { sliceAt(s, sliceOther) = slice(cut, otherGathered); },
     "instructions[9]: the flat axes of the input are not the first ones of the output"},
    {"SliceChangesDims", [](ScheduleT &s) { valueAt(s, cut).dims[0]->axes.clear(); },
     "instructions[8]: dim 0 is sharded differently"},
    {"FewerOutputs", [](ScheduleT &s) { valueAt(s, received).members = {gathered}; },
     "instructions[11]: 2 inputs and 1 outputs"},
    {"FewerInputs", [](ScheduleT &s) { packAt(s, packCuts).inputs = valueAt(s, sent).members = {cut}; },
     "instructions[11]: 1 inputs and 2 outputs"},
    {"NoMember", [](ScheduleT &s) { valueAt(s, sent).members = {60}; }, "values[15]: members[0]: value 60 of 19"},
    {"PackedMember", [](ScheduleT &s) { valueAt(s, sent).members = {received}; },
     "values[15]: members[0]: value 16 is packed itself"},
    {"MemberOfAnotherDType", [](ScheduleT &s) { valueAt(s, sent).dtype = artifact::DType::f64; },
     "values[15]: members[0]: value 7 has dtype f32, the packed value has f64"},
    {"PackedWithALayout", [](ScheduleT &s) { valueAt(s, sent).host = true; },
     "values[15]: a packed value with a layout of its own"},
    {"PacksOthers", [](ScheduleT &s) { packAt(s, packCuts).inputs = {otherCut, cut}; },
     "instructions[10]: value 15 does not have the inputs as members"},
    {"PacksIntoATensor", [](ScheduleT &s) { packAt(s, packCuts).output = gathered; },
     "instructions[10]: value 9 does not have the inputs as members"},
    {"PacksInPlaceOutsideOfBuffers", [](ScheduleT &s) { packAt(s, packCuts).in_place = true; },
     "instructions[10]: value 7 is packed in place, but does not follow the one before it in a buffer"},
    {"PackedForNothing",
     [](ScheduleT &s) {
       addPacked(s, {cut});
       append(s, packOf({cut}, receivedTotals + 1));
     },
     "value 19 is packed for no collective"},
    {"PackedForAnother", [](ScheduleT &s) { startAt(s, startScatter).input = sent; },
     "instructions[16]: value 15 is packed, but not for this collective"},
    {"ReceivedIsSentOn", [](ScheduleT &s) { startAt(s, startScatter).input = received; },
     "instructions[16]: value 16 is packed, but not for this collective"},
    {"ComputesWithWhatIsPacked",
     [](ScheduleT &s) {
       auto arg = std::make_unique<artifact::ArgT>();
       arg->kind = artifact::ArgKind::value;
       arg->values = {received};
       forwardOf(s).instructions[makeAddends]->action.AsCompute()->args.push_back(std::move(arg));
     },
     "instructions[14]: args[0]: value 16 is packed"},
    {"ComputesWhatIsPacked",
     [](ScheduleT &s) {
       addPacked(s, {cut});
       forwardOf(s).instructions[makeAddends]->action.AsCompute()->outputs.push_back(receivedTotals + 1);
     },
     "instructions[14]: outputs[2]: value 19 is packed"},
    {"OutputIsPacked", [](ScheduleT &s) { forwardOf(s).outputs[0]->value = received; },
     "outputs[0]: value 16 is packed"},
    {"UnpacksOthers", [](ScheduleT &s) { unpackAt(s, unpackTotals).outputs = {otherTotal, total}; },
     "instructions[18]: value 18 does not have the outputs as members"},
    {"UnpacksWhatIsSent",
     [](ScheduleT &s) { unpackAt(s, unpackTotals) = unpackOf(sentAddends, {addend, otherAddend}); },
     "instructions[18]: value 17 is not a packed output of a collective, or was unpacked before"},
    {"IsNotUnpacked", [](ScheduleT &s) { forwardOf(s).instructions.pop_back(); }, "value 18 is not unpacked"},
    {"SecondOfTheBucket", [](ScheduleT &s) { valueAt(s, otherGathered).dims[0]->axes.clear(); },
     "instructions[11]: dim 0 is sharded differently"},
    {"DTypesOfTheBucket",
     [](ScheduleT &s) {
       for (int value : {static_cast<int>(otherAddend), static_cast<int>(otherTotal)})
         valueAt(s, value).dtype = artifact::DType::bf16;
     },
     "values[17]: members[1]: value 12 has dtype bf16, the packed value has f32"},
    {"BucketAlongADim",
     [](ScheduleT &s) {
       // Two gathers along dim 1, coalesced.
       for (int value : {static_cast<int>(cut), static_cast<int>(otherCut)}) {
         valueAt(s, value).flat_axes.clear();
         valueAt(s, value).dims[1]->axes = {artifact::AxisRef(1, 1, 3)};
       }
       startAt(s, startBucket).dim = 1;
     },
     "instructions[11]: several tensors, or a target, in a collective that moves one tensor along dims"},
    {"FreedInFlight",
     [](ScheduleT &s) {
       artifact::FreeT free;
       free.values = {sent};
       append(s, free);
       std::rotate(forwardOf(s).instructions.begin() + waitBucket, forwardOf(s).instructions.end() - 1,
                   forwardOf(s).instructions.end());
     },
     "instructions[12]: values[0]: value 15 is freed before the wait of what reads it"},
    {"UsedInFlight",
     [](ScheduleT &s) {
       add(s, valueAt(s, otherCut), {artifact::AxisRef(1, 1, 3)});
       append(s, slice(otherGathered, receivedTotals + 1));
       std::rotate(forwardOf(s).instructions.begin() + waitBucket, forwardOf(s).instructions.end() - 1,
                   forwardOf(s).instructions.end());
     },
     "instructions[12]: input: value 10 is used before it is defined"},
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
  startAt(s, startScatter).target = addPacked(s, buffer->values);
  append(s, packOf(buffer->values, startAt(s, startScatter).target, /*inPlace=*/true));
  unpackAt(s, unpackTotals).in_place = true;
  program.buffers.push_back(std::move(buffer));
  // The pack comes before the start.
  std::rotate(program.instructions.begin() + startScatter, program.instructions.end() - 1, program.instructions.end());
  return s;
}

/// Instructions of buildTargets, from the pack of the targets on.
enum { packTargets = startScatter, startInto, waitInto, unpackInto };

constexpr int firstTarget = receivedTotals + 1, secondTarget = firstTarget + 1, bothTargets = secondTarget + 1;

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
     "buffers[0]: values[1]: value 19 is neither a parameter nor an accumulator, or already belongs to a buffer"},
    {"OfSeveralDTypes", [](ScheduleT &s) { valueAt(s, secondTarget).dtype = artifact::DType::f64; },
     "values[21]: members[1]: value 20 has dtype f64, the packed value has f32"},
    {"LargerThanTheAddressSpace",
     [](ScheduleT &s) {
       for (int value : {firstTarget, secondTarget})
         valueAt(s, value).dims[0]->extent = int64_t(1) << 57;
     },
     "buffers[0]: values[1]: value 20 makes the buffer larger than the address space"},
    {"OnTheHost", [](ScheduleT &s) { valueAt(s, secondTarget).host = true; },
     "values[21]: members[1]: value 20 is on the host"},
    {"TargetOnTheHost",
     [](ScheduleT &s) {
       forwardOf(s).buffers.clear();
       valueAt(s, secondTarget).host = true;
     },
     "values[21]: members[1]: value 20 is on the host"},
    {"NamedTwice",
     [](ScheduleT &s) {
       auto other = std::make_unique<artifact::BufferT>(*forwardOf(s).buffers[0]);
       other->values.erase(other->values.begin());
       forwardOf(s).buffers[0]->values.pop_back();
       forwardOf(s).buffers.push_back(std::move(other));
     },
     "buffers[1]: the name 'gradients' twice"},
    {"TargetsInAnotherOrder",
     [](ScheduleT &s) {
       packAt(s, packTargets).inputs = valueAt(s, bothTargets).members = {secondTarget, firstTarget};
     },
     "instructions[16]: value 19 is packed in place, but does not follow the one before it in a buffer"},
    {"TargetIsPackedElsewhere", [](ScheduleT &s) { packAt(s, packTargets).in_place = false; },
     "instructions[17]: target 21 is packed, but not in place"},
    {"TargetIsReadInFlight",
     [](ScheduleT &s) {
       // Gathered in place of what it reads: the whole is not where its pieces are.
       startAt(s, startBucket).target = cut;
     },
     "instructions[11]: 1 tensors in the target of 2"},
    {"ABucketOfExtremes",
     [](ScheduleT &s) {
       startAt(s, startInto).reduction = artifact::Reduction::max;
       for (int value : {static_cast<int>(addend), static_cast<int>(otherAddend)})
         valueAt(s, value).partial = artifact::Reduction::max;
     },
     "instructions[17]: flat tensors, or several, in a reduction that is not a sum"},
    {"TargetOfAGatherAlongADim",
     [](ScheduleT &s) {
       auto accumulator = std::make_unique<artifact::AccumulatorT>();
       accumulator->name = "c";
       accumulator->value = add(s, valueAt(s, whole));
       startAt(s, startGather).target = accumulator->value;
       forwardOf(s).accumulators.push_back(std::move(accumulator));
     },
     "instructions[5]: several tensors, or a target, in a collective that moves one tensor along dims"},
    {"FewerTargets",
     [](ScheduleT &s) { packAt(s, packTargets).inputs = valueAt(s, bothTargets).members = {firstTarget}; },
     "instructions[17]: 1 tensors in the target of 2"},
    {"NoTarget", [](ScheduleT &s) { startAt(s, startInto).target = 99; }, "instructions[17]: target: value 99 of 22"},
    {"TargetOfOtherAxes", [](ScheduleT &s) { valueAt(s, firstTarget).flat_axes.clear(); },
     "instructions[17]: the flat axes are not those of the communicator"},
    {"TargetOfOtherExtents", [](ScheduleT &s) { valueAt(s, firstTarget).dims[0]->extent += 2; },
     "instructions[17]: the global shape changes"},
    {"UnpackedInPlaceIntoTargets", [](ScheduleT &s) { unpackAt(s, unpackInto).targets = {firstTarget, secondTarget}; },
     "instructions[19]: 2 targets of 2 outputs that are unpacked in place"},
    {"UnpackedIntoWhatIsOverwritten",
     [](ScheduleT &s) {
       unpackAt(s, unpackInto).in_place = false;
       unpackAt(s, unpackInto).targets = {firstTarget, secondTarget};
     },
     "instructions[19]: targets[0]: value 19 is used after it was overwritten"},
    {"UnpackedIntoFewer",
     [](ScheduleT &s) {
       unpackAt(s, unpackInto).in_place = false;
       unpackAt(s, unpackInto).targets = {firstTarget};
     },
     "instructions[19]: 1 targets of 2 outputs"},
    {"FreedWhereItIsPacked",
     [](ScheduleT &s) {
       artifact::FreeT free;
       free.values = {firstTarget};
       append(s, free);
       std::rotate(forwardOf(s).instructions.begin() + startInto, forwardOf(s).instructions.end() - 1,
                   forwardOf(s).instructions.end());
     },
     "instructions[18]: value 19 is used after it was freed"},
    {"TargetIsReadBehind",
     [](ScheduleT &s) {
       add(s, valueAt(s, firstTarget), valueAt(s, firstTarget).flat_axes);
       append(s, slice(firstTarget, bothTargets + 1));
     },
     "instructions[20]: input: value 19 is used after it was overwritten"},
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
