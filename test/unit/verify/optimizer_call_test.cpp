//===- optimizer_call_test.cpp - hyperparameters of an optimizer ----------===//

#include "runtime/verify/optimizer_call.h"

#include "test/unit/verify/verified_step.h"

#include <gtest/gtest.h>

using namespace meshplan;

namespace {

/// The call that updates the only parameter, after a change of the step.
Expected<std::optional<OptimizerCall>> callAfter(const std::function<void(VerifiedStep &)> &change,
                                                 Held held = Held::parameter) {
  Artifact artifact = artifactAfter(change, held);
  const artifact::Program &program = *artifact.schedule().programs()->Get(0);
  return optimizerOf(program, *program.gradients()->Get(0));
}

/// Its hyperparameters.
Expected<std::optional<OptimizerNumbers>> numbersAfter(const std::function<void(VerifiedStep &)> &change) {
  auto call = callAfter(change);
  if (!call)
    return call.status();
  return *call ? std::optional((*call)->numbers) : std::nullopt;
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

TEST(OptimizerCallTest, WhatItChanges) {
  for (Held held : {Held::parameter, Held::part, Held::master}) {
    VerifiedStep step(/*hasReference=*/true, held);
    auto call = callAfter([](VerifiedStep &) {}, held);
    ASSERT_TRUE(call.ok() && *call);
    EXPECT_EQ((*call)->held, step.held);
    EXPECT_EQ((*call)->result, step.changed);
    EXPECT_EQ((*call)->held == step.w, held == Held::parameter);
  }
}

/// Host tensors are copied for the step, and so is the gradient if the step runs on the host.
TEST(OptimizerCallTest, WhatItChangesElsewhere) {
  auto call = callAfter([](VerifiedStep &step) {
    artifact::ProgramT &program = step.step();
    artifact::ComputeT &own = step.call("meshplan.sgd");
    auto argument = std::ranges::find(own.args, "parameter", [](const auto &arg) { return arg->name; });
    artifact::CopyT copy;
    copy.input = step.w;
    copy.output = static_cast<int>(program.values.size());
    program.values.push_back(std::make_unique<artifact::ValueT>(*program.values[step.w]));
    program.values[step.w]->host = true;
    (*argument)->values = own.overwrites = {copy.output};
    for (auto &instruction : program.instructions) {
      if (artifact::StartT *start = instruction->action.AsStart())
        ++start->sequence;
      if (artifact::WaitT *wait = instruction->action.AsWait())
        ++wait->sequence;
    }
    auto insert = [&](auto action, size_t place) {
      auto instruction = std::make_unique<artifact::InstructionT>();
      instruction->action.Set(std::move(action));
      program.instructions.insert(program.instructions.begin() + static_cast<std::ptrdiff_t>(place),
                                  std::move(instruction));
    };
    insert(copy, 0);
    insert(artifact::WaitT(), 1);
    // The changed copy is copied back.
    artifact::CopyT back;
    back.input = program.updates.front()->value;
    back.output = program.updates.front()->value = static_cast<int>(program.values.size());
    back.sequence = 100;
    program.values.push_back(std::make_unique<artifact::ValueT>(*program.values[step.w]));
    artifact::WaitT end;
    end.sequence = back.sequence;
    insert(back, program.instructions.size());
    insert(end, program.instructions.size());
  });
  ASSERT_TRUE(call.ok()) << call.status().message();
  EXPECT_TRUE(call->has_value());
}

/// A state that starts with zeros is not a master, nor is one of another parameter.
TEST(OptimizerCallTest, Master) {
  auto masterAfter = [](const std::function<void(VerifiedStep &)> &change) {
    int parameter = -1;
    Artifact artifact = artifactAfter(
        [&](VerifiedStep &step) {
          change(step);
          parameter = step.w;
        },
        Held::master);
    const artifact::State *master = masterOf(*artifact.schedule().programs()->Get(0), parameter);
    return master ? master->name()->str() : "none";
  };
  EXPECT_EQ(masterAfter([](VerifiedStep &) {}), "w.master");
  EXPECT_EQ(masterAfter([](VerifiedStep &step) { step.step().states[0]->copies = false; }), "none");
  Artifact artifact = artifactAfter();
  EXPECT_EQ(masterOf(*artifact.schedule().programs()->Get(0), /*parameter=*/-1), nullptr);
}

/// If two parameters share a gradient, each has its own call; this parameter has none.
TEST(OptimizerCallTest, OneGradientOfTwoParameters) {
  auto call = callAfter([](VerifiedStep &step) {
    artifact::ProgramT &program = step.step();
    auto &other = *program.parameters.emplace_back(std::make_unique<artifact::ParameterT>());
    other.names = {"other"};
    other.trainable = true;
    other.value = static_cast<int>(program.values.size());
    program.values.push_back(std::make_unique<artifact::ValueT>(*program.values[step.w]));
    program.gradients[0]->parameter = other.value;
  });
  ASSERT_TRUE(call.ok()) << call.status().message();
  EXPECT_FALSE(call->has_value());
}
