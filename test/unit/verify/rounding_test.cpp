//===- rounding_test.cpp - rounding of programs ---------------------------===//

#include "runtime/verify/rounding.h"

#include "test/unit/verify/verified_step.h"

#include <gtest/gtest.h>

using namespace meshplan;

namespace {

const std::string before = "error bounds are those of PyTorch's own run, and the program rounds more: ";

std::string refusalOf(const Artifact &artifact) {
  const auto &programs = *artifact.schedule().programs();
  return checkRounding(artifact.schedule(), *programs.Get(0), *programs.Get(programs.size() - 1)).message();
}

std::string refusalAfter(const std::function<void(VerifiedStep &)> &change) { return refusalOf(artifactAfter(change)); }

void setDtype(artifact::ProgramT &program, int value, DType dtype) {
  program.values[value]->dtype = static_cast<artifact::DType>(dtype);
}

/// The error for a step with w in `stored`, of a model that has it in `exported`.
std::string refusalOfStorage(DType stored, DType exported) {
  return refusalAfter([&](VerifiedStep &step) {
    setDtype(step.step(), step.w, stored);
    setDtype(step.step(), step.changed, stored);
    setDtype(step.reference(), step.reference().parameters[0]->value, exported);
  });
}

TEST(RoundingTest, ParametersInFewerDigitsThanTheModel) {
  EXPECT_EQ(refusalOfStorage(DType::bf16, DType::f32),
            before +
                "parameter 'w' is kept in bf16, the model has it in f32; help: verify the plan without 'storage bf16'");
  EXPECT_EQ(refusalOfStorage(DType::f32, DType::f64),
            before +
                "parameter 'w' is kept in f32, the model has it in f64; help: verify the plan without 'storage f32'");
  EXPECT_NE(refusalOfStorage(DType::f16, DType::bf16), "") << "which has greater numbers";
  EXPECT_NE(refusalOfStorage(DType::bf16, DType::f16), "") << "which has more digits";
  for (DType dtype : {DType::f64, DType::f32, DType::f16, DType::bf16})
    EXPECT_EQ(refusalOfStorage(dtype, dtype), "");
  EXPECT_EQ(refusalOfStorage(DType::f32, DType::bf16), "");
}

/// A program with one parameter, stored flat in f32, whose copy in bf16 is gathered; and the reference of a model that
/// has it in `exported`.
class GatheredParameter {
public:
  explicit GatheredParameter(DType exported) : reference({{"one", 1}}) {
    w = builder.flat(builder.parameter({"w"}, {{4}}, DType::f32), {"dp"});
    narrow = builder.flat(builder.value({{4}}, DType::bf16), {"dp"});
    gathered = builder.value({{4}}, DType::bf16);
    convert(builder, w, narrow);
    builder.collective(Kind::all_gather, {"dp"}, narrow, gathered);
    own = reference.parameter({"w"}, {{4}}, exported);
    reference.program().name = "reference";
    reference.program().role = artifact::ProgramRole::reference;
  }

  static void convert(ScheduleBuilder &program, int from, int to) {
    auto dtype = static_cast<DType>(program.program().values[to]->dtype);
    program.compute("aten._to_copy.default", {dtypeArg("dtype", dtype), tensorArg("self", from)}, {to});
  }

  /// A conversion of `value` to f32 after the others.
  static void widen(ScheduleBuilder &program, int value) { convert(program, value, program.value({{4}}, DType::f32)); }

  std::string refusal() {
    builder.schedule().programs.push_back(std::move(reference.schedule().programs[0]));
    TemporaryDirectory folder;
    builder.write(folder / "a.sched");
    auto artifact = loadSchedule(folder / "a.sched");
    EXPECT_TRUE(artifact.ok()) << artifact.status().message();
    return refusalOf(*artifact);
  }

  ScheduleBuilder builder{{{"dp", 2}}}, reference;
  int w, narrow, gathered, own;
};

TEST(RoundingTest, ParametersThatAreGatheredInFewerDigits) {
  GatheredParameter rounded(DType::f32);
  GatheredParameter::widen(rounded.builder, rounded.gathered);
  EXPECT_EQ(rounded.refusal(), before +
                                   "parameter 'w' is rounded to bf16 before it is read, the model reads it unrounded; "
                                   "help: verify the plan without 'gather bf16'");
}

TEST(RoundingTest, ParametersThatAreCopiedToAnotherMemory) {
  GatheredParameter rounded(DType::f32);
  int there = rounded.builder.value({{4}}, DType::bf16);
  rounded.builder.onHost(there);
  rounded.builder.copy(rounded.gathered, there);
  GatheredParameter::widen(rounded.builder, there);
  EXPECT_NE(rounded.refusal(), "");
}

TEST(RoundingTest, WhatTheModelReadsInFewerDigits) {
  GatheredParameter narrow(DType::f32);
  EXPECT_EQ(narrow.refusal(), "") << "the model's own conversion, which is gathered";
  GatheredParameter widened(DType::f32);
  GatheredParameter::widen(widened.builder, widened.gathered);
  int copy = widened.reference.value({{4}}, DType::bf16);
  GatheredParameter::convert(widened.reference, widened.own, copy);
  GatheredParameter::widen(widened.reference, copy);
  EXPECT_EQ(widened.refusal(), "") << "the model rounds it too";
  GatheredParameter stored(DType::bf16);
  GatheredParameter::widen(stored.builder, stored.gathered);
  EXPECT_EQ(stored.refusal(), "") << "a parameter of 16 bits, stored in f32: the model widens it";
}

TEST(RoundingTest, WhatTheModelRoundsWhereverItReadsIt) {
  // A bias in 16 bits, which ranks add to wide sums.
  auto readBy = [](bool also) {
    auto model = std::make_unique<GatheredParameter>(DType::f32);
    GatheredParameter::widen(model->builder, model->gathered);
    GatheredParameter::convert(model->reference, model->own, model->reference.value({{4}}, DType::bf16));
    if (also)
      model->reference.compute("aten.neg.default", {tensorArg("self", model->own)},
                               {model->reference.value({{4}}, DType::f32)});
    return model->refusal();
  };
  EXPECT_EQ(readBy(false), "");
  EXPECT_NE(readBy(true), "") << "another reader has all its digits";
}

TEST(RoundingTest, AnotherProgramInTheTimelineOfAStep) {
  GatheredParameter rounded(DType::f32);
  auto step = std::make_unique<artifact::ProgramT>(rounded.builder.program());
  step->name = "step";
  step->role = artifact::ProgramRole::step;
  GatheredParameter::widen(rounded.builder, rounded.gathered);
  rounded.builder.program().name = "count0";
  rounded.builder.program().role = artifact::ProgramRole::microbatch;
  step->timeline = {{1, 0}, {1, 1}, {0, 0}, {0, 1}};
  auto &programs = rounded.builder.schedule().programs;
  programs.insert(programs.begin(), std::move(step));
  EXPECT_NE(rounded.refusal(), "");
}

TEST(RoundingTest, SumsOfRoundedGradients) {
  EXPECT_EQ(refusalAfter([](VerifiedStep &step) {
              artifact::ComputeT &call = step.call("aten.relu.default");
              call.target = "meshplan.round_gradient";
              call.args.push_back(std::make_unique<artifact::ArgT>(dtypeArg("dtype", DType::bf16)));
              setDtype(step.step(), step.gradient, DType::bf16);
            }),
            before +
                "gradients are accumulated in bf16 (test.plan:3:3 loss, module head); help: verify the plan without "
                "'reduce bf16'");
}

TEST(RoundingTest, AStepThatRoundsAsTheModelDoes) {
  EXPECT_EQ(refusalAfter([](VerifiedStep &) {}), "");
}

} // namespace
