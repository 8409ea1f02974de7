//===- optimizer_call_test.cpp - the numbers of an optimizer --------------===//

#include "runtime/verify/optimizer_call.h"

#include "test/unit/verify/verified_step.h"

#include <gtest/gtest.h>

using namespace meshplan;

namespace {

/// The numbers of the one parameter after a change of the step.
Expected<std::optional<OptimizerNumbers>> numbersAfter(const std::function<void(VerifiedStep &)> &change) {
  Artifact artifact = artifactAfter(change);
  const artifact::Program &program = *artifact.schedule().programs()->Get(0);
  return optimizerOf(program, *program.gradients()->Get(0));
}

artifact::ArgT flagArg(std::string name) {
  artifact::ArgT arg;
  arg.kind = artifact::ArgKind::boolean;
  arg.name = std::move(name);
  arg.bools = {true};
  return arg;
}

void add(artifact::ComputeT &call, artifact::ArgT arg) {
  call.args.push_back(std::make_unique<artifact::ArgT>(std::move(arg)));
}

} // namespace

TEST(OptimizerCallTest, Sgd) {
  auto numbers = numbersAfter([](VerifiedStep &step) {
    step.step().settings[0]->schedule = std::make_unique<artifact::RateScheduleT>();
    step.step().settings[0]->schedule->warmup = 4;
    artifact::ComputeT &call = step.call("meshplan.sgd");
    call.target = "meshplan.sgd_momentum";
    add(call, realArg("rate", 0.9));
    add(call, realArg("dampening", 0.5));
    add(call, flagArg("nesterov"));
  });
  ASSERT_TRUE(numbers.ok() && *numbers);
  EXPECT_EQ((*numbers)->kind, OptimizerKind::sgd);
  EXPECT_DOUBLE_EQ((*numbers)->rate, 0.1 / 4) << "the first step of four";
  EXPECT_EQ((*numbers)->weightDecay, 0.25);
  EXPECT_EQ((*numbers)->momentum, 0.9);
  EXPECT_EQ((*numbers)->dampening, 0.5);
  EXPECT_TRUE((*numbers)->nesterov);
}

TEST(OptimizerCallTest, Adam) {
  auto numbers = numbersAfter([](VerifiedStep &step) {
    artifact::ComputeT &call = step.call("meshplan.sgd");
    call.target = "meshplan.adam";
    add(call, realArg("beta1", 0.8));
    add(call, realArg("beta2", 0.9));
    add(call, realArg("eps", 1e-3));
  });
  ASSERT_TRUE(numbers.ok() && *numbers);
  EXPECT_EQ((*numbers)->kind, OptimizerKind::adam);
  EXPECT_EQ((*numbers)->beta1, 0.8);
  EXPECT_EQ((*numbers)->beta2, 0.9);
  EXPECT_EQ((*numbers)->eps, 1e-3);
  numbers = numbersAfter([](VerifiedStep &step) {
    step.call("meshplan.sgd").target = "meshplan.adam";
    add(step.call("meshplan.adam"), flagArg("decoupled"));
  });
  EXPECT_EQ((*numbers)->kind, OptimizerKind::adamw);
}

TEST(OptimizerCallTest, WhatIsNoOptimizer) {
  EXPECT_FALSE(numbersAfter([](VerifiedStep &step) { step.call("meshplan.sgd").overwrites.clear(); })->has_value());
  EXPECT_EQ(
      numbersAfter([](VerifiedStep &step) { step.call("meshplan.sgd").target = "meshplan.lion"; }).status().message(),
      "LibTorch has no optimizer to compare 'meshplan.lion' with");
}
