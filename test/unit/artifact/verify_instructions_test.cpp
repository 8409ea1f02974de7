//===- verify_instructions_test.cpp - rules of order and lifetimes --------===//

#include "test/unit/artifact/refused_schedule.h"

#include <functional>

namespace meshplan {
namespace {

using artifact::IntExpr;
using artifact::ScheduleT;

using VerifyInstructions = RefusedSchedule;

TEST_P(VerifyInstructions, AreRefused) { expectRefusal("programs[0]: instructions["); }

artifact::InstructionT &instructionAt(ScheduleT &s, size_t index) { return *forwardOf(s).instructions[index]; }

void erase(ScheduleT &s, size_t index) {
  forwardOf(s).instructions.erase(forwardOf(s).instructions.begin() + static_cast<std::ptrdiff_t>(index));
}

artifact::ComputeT &computeOf(ScheduleT &s) { return *instructionAt(s, linear).action.AsCompute(); }

const WrongSchedule computeCases[] = {
    {"OriginNegative", [](ScheduleT &s) { instructionAt(s, linear).origin = -2; }, "0]: origin -2 of 1"},
    {"OutputBesideTarget",
     [](ScheduleT &s) {
       startOf(s, startSum).target = product;
       startOf(s, startSum).output = 99;
     },
     "1]: output: value 99 of 7"},
    {"OutputNegative", [](ScheduleT &s) { computeOf(s).outputs = {product, -2}; }, "0]: outputs[1]: value -2 of 7"},
    {"OutputsAlike", [](ScheduleT &s) { computeOf(s).outputs = {product, product}; },
     "0]: outputs[1]: value 3 is defined twice"},
    {"ArgIsItsOutput", [](ScheduleT &s) { argOf(s, 0).values = {product}; },
     "0]: args[0]: value 3 is used before it is defined"},
    {"ArgKindNegative", [](ScheduleT &s) { argOf(s, 2).kind = artifact::ArgKind(-1); },
     "0]: args[2]: kind -1 does not exist"},
    {"ArgValues", [](ScheduleT &s) { argOf(s, 0).values = {input, weight}; }, "0]: args[0]: 2 elements instead of one"},
    {"ArgListNegative", [](ScheduleT &s) { argOf(s, 1).values = {-1, -2}; }, "0]: args[1]: values[1]: value -2 of 7"},
    {"ArgInts", [](ScheduleT &s) { argOf(s, 3).ints.resize(3); }, "0]: args[3]: 3 elements instead of one"},
    {"ArgIntValueNegative", [](ScheduleT &s) { argOf(s, 3).ints = {IntExpr(0, -2, 0, 0, 1)}; },
     "0]: args[3]: value -2 of 7"},
    {"ArgIntDimNegative", [](ScheduleT &s) { argOf(s, 3).ints = {IntExpr(0, input, -1, 1, 0)}; },
     "0]: args[3]: dim -1 of 2"},
    {"ArgIntListValue", [](ScheduleT &s) { argOf(s, 4).ints[1] = IntExpr(0, 7, 0, 0, 1); },
     "0]: args[4]: ints[1]: value 7 of 7"},
    {"ArgIntOverflows", [](ScheduleT &s) { argOf(s, 3).ints = {IntExpr(0, input, 1, INT64_MAX / 6 + 1, 0)}; },
     "0]: args[3]: an integer of dim 1 of value 2 that overflows"},
    {"ArgIntSumOverflows", [](ScheduleT &s) { argOf(s, 3).ints = {IntExpr(INT64_MAX - 5, input, 1, 0, 1)}; },
     "0]: args[3]: an integer of dim 1 of value 2 that overflows"},
    {"ArgIntDifferenceOverflows", [](ScheduleT &s) { argOf(s, 3).ints = {IntExpr(INT64_MIN + 5, input, 1, -1, 2)}; },
     "0]: args[3]: an integer of dim 1 of value 2 that overflows"},
    {"ArgMicrobatchOfNoInteger", [](ScheduleT &s) { argOf(s, 5).microbatch_scales = {1}; },
     "0]: args[5]: microbatch_scales of an attribute that is not an integer"},
    {"ArgMicrobatchCount", [](ScheduleT &s) { argOf(s, 4).microbatch_scales = {1}; },
     "0]: args[4]: 1 microbatch_scales of 2 ints"},
    {"ArgMicrobatchOfNoValue", [](ScheduleT &s) { argOf(s, 4).microbatch_scales = {1, 0}; },
     "0]: args[4]: ints[0] depends on the microbatch, but names no value"},
    {"ArgMicrobatchOverflows", [](ScheduleT &s) { argOf(s, 3).microbatch_scales = {INT32_MAX}; },
     "0]: args[3]: ints[0]: microbatches make it overflow"},
    {"ArgNoReal", [](ScheduleT &s) { argOf(s, 5).reals.clear(); }, "0]: args[5]: 0 elements instead of one"},
    {"ArgBooleans", [](ScheduleT &s) { argOf(s, 6).bools = {true, false}; }, "0]: args[6]: 2 elements instead of one"},
    {"ArgDTypeTooLarge", [](ScheduleT &s) { argOf(s, 8).dtype = artifact::DType(10); },
     "0]: args[8]: dtype 10 does not exist"},
    {"Origin", [](ScheduleT &s) { instructionAt(s, linear).origin = 1; }, "0]: origin 1 of 1"},
    {"Target", [](ScheduleT &s) { instructionAt(s, linear).action.AsCompute()->target = ""; }, "0]: no target"},
    {"Output", [](ScheduleT &s) { instructionAt(s, linear).action.AsCompute()->outputs = {12}; },
     "0]: outputs[0]: value 12 of 7"},
    {"OutputTwice", [](ScheduleT &s) { instructionAt(s, linear).action.AsCompute()->outputs = {input}; },
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

artifact::FreeT freeOf(std::vector<int> values) {
  artifact::FreeT free;
  free.values = std::move(values);
  return free;
}

const WrongSchedule lifetimeCases[] = {
    {"FreeUnknown", [](ScheduleT &s) { append(s, freeOf({7})); }, "8]: values[0]: value 7 of 7"},
    {"FreeArriving", [](ScheduleT &s) { instructionAt(s, waitGather).action.Set(freeOf({whole})); },
     "6]: values[0]: value 6 is used before the wait that gives it"},
    {"SequenceNegative", [](ScheduleT &s) { startOf(s, startSum).sequence = -1; }, "1]: sequence -1 after -1"},
    {"ReadByTwo", // the first wait completes one of the two collectives that read `part`
     [](ScheduleT &s) {
       auto copy = std::make_unique<artifact::ValueT>(valueOf(s, whole));
       forwardOf(s).values.push_back(std::move(copy));
       artifact::StartT second = startOf(s, startGather);
       second.sequence = 2;
       second.output = testValueCount;
       append(s, second);
       std::rotate(forwardOf(s).instructions.begin() + waitGather, forwardOf(s).instructions.end() - 1,
                   forwardOf(s).instructions.end());
       append(s, waitFor(2));
     },
     "8]: values[0]: value 5 is freed before the wait of what reads it"},
    {"OutputOfTheProgramIsFreed",
     [](ScheduleT &s) {
       append(s, freeOf({whole}));
       append(s, freeOf({whole}));
     },
     "9]: values[0]: value 6 is used after it was freed"},
    {"UseAfterOverwriting",
     [](ScheduleT &s) {
       instructionAt(s, linear).action.AsCompute()->overwrites = {input};
       append(s, *instructionAt(s, linear).action.AsCompute());
     },
     "8]: args[0]: value 2 is used after it was overwritten"},
    {"FreedTwiceAfterOverwriting",
     [](ScheduleT &s) {
       instructionAt(s, linear).action.AsCompute()->overwrites = {input};
       append(s, freeOf({input}));
       append(s, freeOf({input}));
     },
     "9]: values[0]: value 2 is used after it was freed"},
    {"OverwrittenInFlight",
     [](ScheduleT &s) {
       artifact::ComputeT step = *instructionAt(s, linear).action.AsCompute();
       step.args.clear();
       step.outputs.clear();
       step.overwrites = {part};
       append(s, step);
       std::rotate(forwardOf(s).instructions.begin() + waitGather, forwardOf(s).instructions.end() - 1,
                   forwardOf(s).instructions.end());
     },
     "6]: overwrites[0]: value 5 is overwritten before the wait of what reads it"},
    {"FreeTwice", [](ScheduleT &s) { instructionAt(s, freeProduct).action.AsFree()->values = {product, product}; },
     "3]: values[1]: value 3 is used after it was freed"},
    {"FreeUndefined", [](ScheduleT &s) { instructionAt(s, freeProduct).action.AsFree()->values = {whole}; },
     "3]: values[0]: value 6 is used before it is defined"},
    {"FreeInFlight",
     [](ScheduleT &s) { std::swap(instructionAt(s, waitSum).action, instructionAt(s, freeProduct).action); },
     "2]: values[0]: value 3 is freed before the wait of what reads it"},
    {"UseAfterFree", [](ScheduleT &s) { instructionAt(s, slicePart).action.AsSlice()->input = product; },
     "4]: input: value 3 is used after it was freed"},
    {"UseInFlight",
     [](ScheduleT &s) { std::swap(instructionAt(s, waitSum).action, instructionAt(s, slicePart).action); },
     "2]: input: value 4 is used before the wait that gives it"},
    {"WaitTwice", [](ScheduleT &s) { append(s, waitFor(1)); }, "8]: no collective or copy 1 is in flight"},
    {"WaitUnknown", [](ScheduleT &s) { instructionAt(s, waitSum).action.AsWait()->sequence = 5; },
     "2]: no collective or copy 5 is in flight"},
    {"Sequence", [](ScheduleT &s) { startOf(s, startGather).sequence = 0; }, "5]: sequence 0 after 0"},
    {"OverwritesOnTheHost",
     [](ScheduleT &s) {
       instructionAt(s, linear).action.AsCompute()->overwrites = {input};
       valueOf(s, input).host = true;
     },
     "0]: value 3 overwrites value 2 of the other memory"},
    {"ReducesOnTheHost", [](ScheduleT &s) { valueOf(s, product).host = true; }, "1]: value 3 is on the host"},
    {"ReducesToTheHost", [](ScheduleT &s) { valueOf(s, sum).host = true; }, "1]: value 4 is on the host"},
    {"SlicesToTheHost", [](ScheduleT &s) { valueOf(s, part).host = true; }, "4]: value 5 is on the host"},
};

/// Appends a copy of a value to the host, as value 7, and returns it.
artifact::CopyT &appendCopy(ScheduleT &s, TestValue from) {
  forwardOf(s).values.push_back(std::make_unique<artifact::ValueT>(valueOf(s, from)));
  forwardOf(s).values.back()->host = true;
  artifact::CopyT copy;
  copy.input = from;
  copy.output = testValueCount;
  copy.sequence = 2;
  append(s, copy);
  return *forwardOf(s).instructions.back()->action.AsCopy();
}

/// The same with a target, value 8.
artifact::CopyT &appendCopyInto(ScheduleT &s, bool isOnHost) {
  artifact::CopyT &copy = appendCopy(s, whole);
  forwardOf(s).values.push_back(std::make_unique<artifact::ValueT>(valueOf(s, testValueCount)));
  forwardOf(s).values.back()->host = isOnHost;
  artifact::ComputeT made;
  made.target = "aten.new_zeros.default";
  made.outputs = {testValueCount + 1};
  append(s, made);
  std::swap(forwardOf(s).instructions.rbegin()[0], forwardOf(s).instructions.rbegin()[1]);
  copy.target = testValueCount + 1;
  return copy;
}

const WrongSchedule copyCases[] = {
    {"SameMemory", [](ScheduleT &s) { appendCopy(s, whole), valueOf(s, testValueCount).host = false; },
     "8]: value 7 is in the same memory as the input 6"},
    {"OtherTensor", [](ScheduleT &s) { appendCopy(s, whole), valueOf(s, testValueCount).dims[0]->extent = 1; },
     "8]: output: the global shape changes"},
    {"Input", [](ScheduleT &s) { appendCopy(s, whole).input = product; },
     "8]: input: value 3 is used after it was freed"},
    {"Output", [](ScheduleT &s) { appendCopy(s, whole).output = input; }, "8]: output: value 2 is defined twice"},
    {"Sequence", [](ScheduleT &s) { appendCopy(s, whole).sequence = 1; }, "8]: sequence 1 after 1"},
    {"Target", [](ScheduleT &s) { appendCopy(s, whole).target = 77; }, "8]: target: value 77 of 8"},
    {"TargetInTheMemoryOfTheInput", [](ScheduleT &s) { appendCopyInto(s, /*isOnHost=*/false); },
     "9]: target 8 is in the memory of the input"},
    {"TargetIsOver",
     [](ScheduleT &s) {
       appendCopyInto(s, /*isOnHost=*/true);
       append(s, waitFor(2));
       appendCopy(s, whole).output = testValueCount + 2;
       forwardOf(s).instructions.back()->action.AsCopy()->target = testValueCount + 1;
     },
     "11]: target: value 8 is used after it was overwritten"},
    {"UsedInFlight",
     [](ScheduleT &s) {
       appendCopy(s, whole);
       append(s, freeOf({testValueCount}));
     },
     "9]: values[0]: value 7 is used before the wait that gives it"},
    {"InputFreedInFlight",
     [](ScheduleT &s) {
       appendCopy(s, whole);
       append(s, freeOf({whole}));
       append(s, waitFor(2));
     },
     "9]: values[0]: value 6 is freed before the wait of what reads it"},
    {"InputOverwrittenInFlight",
     [](ScheduleT &s) {
       appendCopy(s, whole);
       artifact::ComputeT step;
       step.target = "aten.zero_.default";
       step.overwrites = {whole};
       append(s, step);
     },
     "9]: overwrites[0]: value 6 is overwritten before the wait of what reads it"},
};

INSTANTIATE_TEST_SUITE_P(Copy, VerifyInstructions, testing::ValuesIn(copyCases), nameOfCase);
INSTANTIATE_TEST_SUITE_P(Compute, VerifyInstructions, testing::ValuesIn(computeCases), nameOfCase);
INSTANTIATE_TEST_SUITE_P(Lifetime, VerifyInstructions, testing::ValuesIn(lifetimeCases), nameOfCase);

TEST(InstructionOrder, AStartNeedsAWait) {
  ScheduleT schedule = buildSchedule();
  erase(schedule, freePart);
  erase(schedule, waitGather);
  EXPECT_EQ(verificationError(schedule), "programs[0]: collective or copy 1 has no wait");
}

TEST(InstructionOrder, ACopyNeedsAWait) {
  ScheduleT schedule = buildSchedule();
  appendCopyInto(schedule, /*isOnHost=*/true);
  EXPECT_EQ(verificationError(schedule), "programs[0]: collective or copy 2 has no wait");
  append(schedule, waitFor(2));
  append(schedule, freeOf({testValueCount}));
  EXPECT_EQ(verificationError(schedule), "");
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

TEST(InstructionOrder, WaitsInAnyOrder) {
  // A second all-reduce starts before the first is done, and its wait comes first.
  ScheduleT schedule = buildSchedule();
  auto &instructions = forwardOf(schedule).instructions;
  forwardOf(schedule).values.push_back(std::make_unique<artifact::ValueT>(valueOf(schedule, sum)));
  artifact::StartT second = startOf(schedule, startSum);
  second.sequence = 1;
  second.output = testValueCount;
  startOf(schedule, startGather).sequence = 2;
  instructionAt(schedule, waitGather).action.AsWait()->sequence = 2;
  append(schedule, second);
  append(schedule, waitFor(1));
  std::rotate(instructions.begin() + waitSum, instructions.end() - 2, instructions.end());
  EXPECT_EQ(verificationError(schedule), "");
}

TEST(InstructionOrder, ArgumentsThatSayNothingOfValues) {
  ScheduleT schedule = buildSchedule();
  argOf(schedule, 1).values = {-1, -1};                   // a list of None
  argOf(schedule, 3).ints = {IntExpr(5, -1, 99, 1, 1)};   // only the constant is used
  argOf(schedule, 4).ints = {IntExpr(0, part, 1, 0, 1)};  // the extent of a dim with parts
  argOf(schedule, 5).kind = artifact::ArgKind::real_list; // of any length
  argOf(schedule, 6).kind = artifact::ArgKind::bool_list;
  argOf(schedule, 5).reals.clear();
  argOf(schedule, 6).bools.clear();
  EXPECT_EQ(verificationError(schedule), "");
}

TEST(InstructionOrder, WeightsAndInputsMayBeFreed) {
  ScheduleT schedule = buildSchedule();
  append(schedule, freeOf({weight, table, input}));
  EXPECT_EQ(verificationError(schedule), "");
}

TEST(InstructionOrder, AnOutputMustBeMade) {
  ScheduleT schedule = buildSchedule();
  forwardOf(schedule).instructions.clear();
  EXPECT_EQ(verificationError(schedule), "programs[0]: outputs[0]: value 6 is used before it is defined");
}

/// A schedule whose program runs for two microbatches, after a change.
std::string errorOfTwo(const std::function<void(ScheduleT &)> &change) {
  ScheduleT schedule = buildSchedule();
  forwardOf(schedule).timeline = {{0, 0}, {0, 1}};
  change(schedule);
  return verificationError(schedule);
}

void setLast(ScheduleT &s, std::initializer_list<size_t> indices) {
  for (size_t index : indices)
    instructionAt(s, index).when = artifact::When::last;
}

const std::string before = "programs[0]: before the last microbatch: ";

TEST(Instances, TheLastOneMayDoMore) {
  EXPECT_EQ(errorOfTwo([](ScheduleT &) {}), "");
  EXPECT_EQ(errorOfTwo([](ScheduleT &s) { setLast(s, {startGather, waitGather}); }), "");
  EXPECT_EQ(errorOfTwo([](ScheduleT &s) {
              setLast(s, {linear, startSum, waitSum, freeProduct, slicePart, startGather, waitGather, freePart});
            }),
            "");
  EXPECT_EQ(errorOfTwo([](ScheduleT &s) { instructionAt(s, linear).when = static_cast<artifact::When>(4); }),
            "programs[0]: instructions[0]: when 4 does not exist");
}

TEST(Instances, WhatOnlyTheLastOneMakesIsMissingBefore) {
  EXPECT_EQ(errorOfTwo([](ScheduleT &s) { setLast(s, {linear}); }),
            before + "instructions[1]: input: value 3 is used before it is defined");
  EXPECT_EQ(errorOfTwo([](ScheduleT &s) { setLast(s, {slicePart, startGather, waitGather}); }),
            before + "instructions[7]: values[0]: value 5 is used before it is defined");
  EXPECT_EQ(errorOfTwo([](ScheduleT &s) { setLast(s, {startGather}); }),
            before + "instructions[6]: no collective or copy 1 is in flight");
}

TEST(Instances, EachOneWaits) {
  EXPECT_EQ(errorOfTwo([](ScheduleT &s) { setLast(s, {waitGather, freePart}); }),
            before + "collective or copy 1 has no wait");
}

TEST(Instances, OnlyTheLastOneChangesWhatTheNextReads) {
  auto overwrite = [](ScheduleT &s, int32_t value) { computeOf(s).overwrites = {value}; };
  EXPECT_EQ(errorOfTwo([&](ScheduleT &s) { overwrite(s, input); }),
            before + "instructions[0]: overwrites[0]: value 2 is overwritten, and is neither an accumulator nor a "
                     "temporary");
  EXPECT_EQ(errorOfTwo([&](ScheduleT &s) {
              overwrite(s, input);
              setLast(s, {linear, startSum, waitSum, freeProduct, slicePart, startGather, waitGather, freePart});
            }),
            "");
  EXPECT_EQ(errorOfTwo([&](ScheduleT &s) {
              forwardOf(s).timeline.clear();
              overwrite(s, input);
            }),
            "");
}

/// The addends of the program, accumulated: what accumulators have after each instance.
TEST(Instances, AccumulatorsHaveAnUpdateInEachOne) {
  auto accumulate = [](ScheduleT &s) {
    artifact::ProgramT &program = forwardOf(s);
    for (int copy = 0; copy < 2; ++copy)
      program.values.push_back(std::make_unique<artifact::ValueT>(valueOf(s, product)));
    artifact::AccumulatorT accumulator;
    accumulator.name = "sum";
    accumulator.value = testValueCount;
    program.accumulators.push_back(std::make_unique<artifact::AccumulatorT>(accumulator));
    artifact::ComputeT add;
    add.target = "meshplan.accumulate";
    add.overwrites = {testValueCount};
    add.outputs = {testValueCount + 1};
    append(s, add);
    artifact::UpdateT update;
    update.target = testValueCount;
    update.value = testValueCount + 1;
    program.updates.push_back(std::make_unique<artifact::UpdateT>(update));
  };
  EXPECT_EQ(errorOfTwo(accumulate), "");
  EXPECT_EQ(errorOfTwo([&](ScheduleT &s) {
              accumulate(s);
              setLast(s, {freePart + 1});
            }),
            before + "updates[0]: value 8 is used before it is defined");
}

constexpr size_t freeWhole = freePart + 1; ///< in a schedule of errorOfDeferring

/// Three microbatches. The all-gather is in flight when the next one begins, which runs `resumed` of the deferred
/// instructions, its wait and the frees of what it reads and gives, before the instruction at `position`.
std::string errorOfDeferring(int resumed, const std::function<void(ScheduleT &)> &change = nullptr,
                             size_t position = linear) {
  ScheduleT schedule = buildSchedule();
  artifact::ProgramT &program = forwardOf(schedule);
  program.timeline = {{0, 0}, {0, 1}, {0, 2}};
  program.outputs.clear();
  append(schedule, freeOf({whole}));
  for (size_t index : {size_t(waitGather), size_t(freePart), freeWhole})
    instructionAt(schedule, index).when = artifact::When::deferred;
  if (change)
    change(schedule);
  artifact::ResumeT resume;
  resume.steps = resumed;
  auto instruction = std::make_unique<artifact::InstructionT>();
  instruction->action.Set(resume);
  program.instructions.insert(program.instructions.begin() + static_cast<ptrdiff_t>(position), std::move(instruction));
  return verificationError(schedule);
}

TEST(Deferred, ACollectiveMayBeInFlightWhenTheNextInstanceBegins) { EXPECT_EQ(errorOfDeferring(3), ""); }

TEST(Deferred, EachInstructionIsResumedOnce) {
  EXPECT_EQ(errorOfDeferring(2), "programs[0]: it resumes 2 instructions, but defers 3");
  EXPECT_EQ(errorOfDeferring(4), "programs[0]: instructions[0]: it resumes 4 instructions of 3");
  EXPECT_EQ(errorOfDeferring(-1), "programs[0]: instructions[0]: it resumes -1 instructions of 3");
}

TEST(Deferred, OnlyWhatFollowsFromACollective) {
  EXPECT_EQ(errorOfDeferring(4,
                             [](ScheduleT &s) {
                               instructionAt(s, startGather).action.Set(artifact::CopyT());
                               instructionAt(s, startGather).when = artifact::When::deferred;
                             }),
            "programs[0]: instructions[6]: only what follows from a collective can be deferred");
}

/// The all-reduce is in flight when the next microbatch begins, and this one starts the all-gather that follows from
/// it.
void deferBoth(ScheduleT &s) {
  append(s, freeOf({sum}));
  for (size_t index = waitSum; index <= freeWhole + 1; ++index)
    instructionAt(s, index).when = artifact::When::deferred;
}

TEST(Deferred, ACollectiveMayFollowFromOne) {
  EXPECT_EQ(errorOfDeferring(8, deferBoth), "");
  // Four at the beginning, and the other four, from the wait of the all-gather on, at another position.
  auto errorWithRestAt = [](size_t position) {
    return errorOfDeferring(4, [&](ScheduleT &s) {
      deferBoth(s);
      artifact::ResumeT rest;
      rest.steps = 4;
      auto instruction = std::make_unique<artifact::InstructionT>();
      instruction->action.Set(rest);
      auto &instructions = forwardOf(s).instructions;
      instructions.insert(instructions.begin() + static_cast<ptrdiff_t>(position), std::move(instruction));
    });
  };
  EXPECT_EQ(errorWithRestAt(startSum), "");
  EXPECT_EQ(errorWithRestAt(waitSum),
            "programs[0]: in the second microbatch: instructions[2]: output: value 4 is defined twice");
}

TEST(Deferred, NothingIsUsedBeforeItIsThere) {
  EXPECT_EQ(errorOfDeferring(2, [](ScheduleT &s) { instructionAt(s, freeWhole).when = artifact::When::always; }),
            before + "instructions[9]: values[0]: value 6 is used before the wait that gives it");
}

TEST(Deferred, WhatTheInstanceBeforeHasLeftIsFreed) {
  EXPECT_EQ(errorOfDeferring(2, [](ScheduleT &s) { setLast(s, {freePart}); }),
            "programs[0]: in the second microbatch: instructions[0]: value 5 of the instance before is not freed");
}

TEST(Deferred, ItIsResumedBeforeItsValuesAreMadeAgain) {
  EXPECT_EQ(errorOfDeferring(3, nullptr, startGather),
            "programs[0]: in the second microbatch: instructions[4]: output: value 5 is defined twice");
}

TEST(Deferred, NotInAProgramOfMicrobatches) {
  EXPECT_EQ(errorOfDeferring(0,
                             [](ScheduleT &s) {
                               for (auto &instruction : forwardOf(s).instructions)
                                 instruction->when = artifact::When::always;
                               s.programs.push_back(std::make_unique<artifact::ProgramT>(forwardOf(s)));
                               s.programs[1]->name = "step";
                               s.programs[1]->timeline = {{0, 0}, {1, 0}};
                               forwardOf(s).role = artifact::ProgramRole::microbatch;
                               forwardOf(s).timeline.clear();
                             }),
            "programs[0]: instructions[0]: it runs only in the last instance of a timeline, which is none of this "
            "program");
}

/// A schedule of three microbatches, of which the first one gathers for all; the last one frees what it gives.
std::string errorOfFirst(const std::function<void(ScheduleT &)> &change = nullptr) {
  ScheduleT schedule = buildSchedule();
  forwardOf(schedule).timeline = {{0, 0}, {0, 1}, {0, 2}};
  forwardOf(schedule).outputs.clear();
  append(schedule, freeOf({whole}));
  for (size_t index = linear; index <= freePart; ++index)
    instructionAt(schedule, index).when = artifact::When::first;
  instructionAt(schedule, freeWhole).when = artifact::When::last;
  if (change)
    change(schedule);
  return verificationError(schedule);
}

TEST(First, WhatTheFirstInstanceMakesIsThereForAll) { EXPECT_EQ(errorOfFirst(), ""); }

TEST(First, AWaitIsOfTheInstancesOfItsStart) {
  EXPECT_EQ(errorOfFirst([](ScheduleT &s) { setLast(s, {waitGather, freePart}); }),
            before + "collective or copy 1 has no wait");
}

TEST(First, OthersDoNotUseWhatIsFreed) {
  EXPECT_EQ(errorOfFirst([](ScheduleT &s) { instructionAt(s, freeWhole).when = artifact::When::always; }),
            "programs[0]: in the second microbatch: instructions[8]: values[0]: value 6 is used after it was freed");
}

TEST(First, OthersDoNotMakeItAgain) {
  EXPECT_EQ(errorOfFirst([](ScheduleT &s) { instructionAt(s, freePart).when = artifact::When::always; }),
            "programs[0]: in the second microbatch: instructions[7]: values[0]: value 5 is used after it was freed");
}

TEST(Instances, AProgramOfMicrobatchesHasNoLastOne) {
  EXPECT_EQ(errorOfTwo([](ScheduleT &s) {
              s.programs.push_back(std::make_unique<artifact::ProgramT>(forwardOf(s)));
              s.programs[1]->name = "step";
              s.programs[1]->timeline = {{0, 0}, {1, 0}};
              forwardOf(s).role = artifact::ProgramRole::microbatch;
              forwardOf(s).timeline.clear();
              setLast(s, {linear});
            }),
            "programs[0]: instructions[0]: it runs only in the last instance of a timeline, which is none of this "
            "program");
}

} // namespace
} // namespace meshplan
