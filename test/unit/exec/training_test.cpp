//===- training_test.cpp - steps that change parameters and states --------===//

#include "test/unit/exec/run_schedule.h"

#include "runtime/comm/threads/run_threads.h"
#include "runtime/exec/shared_output.h"
#include "runtime/tensor/compute_scope.h"
#include "runtime/tensor/memory.h"
#include "test/unit/temporary_directory.h"

#include <atomic>
#include <gmock/gmock.h>

using namespace meshplan;

namespace {

/// loss = sum(w x): the gradient of w is x. Momentum 0.5, on two ranks with half of w each.
class TrainingTest : public testing::Test {
protected:
  TrainingTest() {
    installPoolAllocator();
    int x = builder.input("x", {{4, {"dp"}}}), w = builder.parameter({"w"}, {{4, {"dp"}}});
    int momentum = builder.value({{4, {"dp"}}}), rate = builder.value({}), step = builder.value({});
    int newW = builder.value({{4, {"dp"}}}), newMomentum = builder.value({{4, {"dp"}}});
    artifact::ProgramT &program = builder.program();
    auto state = std::make_unique<artifact::StateT>();
    state->name = "w.momentum_buffer";
    state->parameter = "w";
    state->value = momentum;
    program.states.push_back(std::move(state));
    addSetting("optimizer.lr", rate, 0.1);
    addSetting("step", step, 1);
    builder.compute("meshplan.sgd_momentum",
                    {tensorArg("parameter", w), tensorArg("gradient", x), tensorArg("momentum", momentum),
                     tensorArg("learning_rate", rate), tensorArg("step", step), realArg("rate", 0.5),
                     realArg("dampening", 0), realArg("weight_decay", 0), flagArg("nesterov", false)},
                    {newW, newMomentum});
    program.instructions.back()->action.AsCompute()->overwrites = {w, momentum};
    addUpdate(newW, w);
    addUpdate(newMomentum, momentum);
    builder.write(folder / "test.sched");
  }

  static artifact::ArgT flagArg(std::string name, bool flag) {
    artifact::ArgT arg;
    arg.kind = artifact::ArgKind::boolean;
    arg.name = std::move(name);
    arg.bools = {flag};
    return arg;
  }

  void addSetting(const std::string &name, int value, double number) {
    auto setting = std::make_unique<artifact::SettingT>();
    setting->name = name;
    setting->value = value;
    setting->number = number;
    builder.program().settings.push_back(std::move(setting));
  }

  void addUpdate(int value, int target) {
    auto update = std::make_unique<artifact::UpdateT>();
    update->value = value;
    update->target = target;
    builder.program().updates.push_back(std::move(update));
  }

  /// Runs `body` on each rank after loading, and returns the final values of the executors.
  Tensors train(const std::function<Status(Walk &)> &body) {
    auto artifact = loadSchedule(folder / "test.sched");
    EXPECT_TRUE(artifact.ok()) << artifact.status().message();
    const artifact::Program &program = *artifact->schedule().programs()->Get(0);
    std::string path = folder / "held.safetensors";
    auto statuses = runThreads(2, {}, [&](World &world) -> Status {
      auto host = std::make_shared<MemoryPool>();
      PoolScope pooled(std::make_shared<MemoryPool>(), host);
      ComputeScope scope(1);
      MESHPLAN_ASSIGN_OR_RETURN(auto runner, ProgramRunner::create(*artifact, program, world));
      EXPECT_EQ(residentBytes(runner.walk().view()).states + residentBytes(runner.walk().view()).hostStates, 2 * 8);
      MESHPLAN_RETURN_IF_ERROR(runner.loadParameters(TensorFeed({{"w", at::ones({4}, at::kDouble)}})));
      MESHPLAN_RETURN_IF_ERROR(runner.loadInputs(TensorFeed({{"x", gradient}})));
      MESHPLAN_RETURN_IF_ERROR(body(runner.walk()));
      hostPeak = host->peak();
      MESHPLAN_ASSIGN_OR_RETURN(SharedOutput output, SharedOutput::open(world, path, heldSpecs(program)));
      MESHPLAN_RETURN_IF_ERROR(runner.walk().writeHeld(output.writer()));
      return output.commit();
    });
    for (const Status &status : statuses)
      EXPECT_TRUE(status.ok()) << status.message();
    return readTensors(path);
  }

  std::atomic<int64_t> hostPeak = 0; ///< of the rank that was last
  at::Tensor gradient = at::tensor({1.0, 2.0, 3.0, 4.0}, at::kDouble);
  ScheduleBuilder builder{{{"dp", 2}}};
  TemporaryDirectory folder;
};

TEST_F(TrainingTest, StepsFollowEachOther) {
  Tensors held = train([](Walk &walk) -> Status {
    MESHPLAN_RETURN_IF_ERROR(walk.run());
    MESHPLAN_RETURN_IF_ERROR(walk.run());
    EXPECT_EQ(walk.steps(), 2);
    return Status();
  });
  // The momentum is g after the first step and 1.5 g after the second.
  EXPECT_TRUE(at::allclose(held["w"], 1 - 0.25 * gradient, 0, 1e-15));
  EXPECT_TRUE(at::allclose(held["w.momentum_buffer"], 1.5 * gradient, 0, 1e-15));
}

TEST_F(TrainingTest, TheRunGivesTheRate) {
  Tensors held = train([](Walk &walk) -> Status {
    MESHPLAN_RETURN_IF_ERROR(walk.setNumber("optimizer.lr", 0.5));
    return walk.run();
  });
  EXPECT_TRUE(at::allclose(held["w"], 1 - 0.5 * gradient, 0, 1e-15));
}

TEST_F(TrainingTest, AnObserverSeesValuesThatAreMade) {
  train([](Walk &walk) -> Status {
    int made = 0;
    const artifact::Program &program = walk.view().program();
    int newW = program.updates()->Get(0)->value(), x = program.inputs()->Get(0)->value();
    Observer observer{{newW, x}, [&](int value, const Tensor &tensor) {
                        EXPECT_EQ(value, newW) << "no instruction makes an input";
                        EXPECT_EQ(tensor.elementCount(), 2);
                        ++made;
                      }};
    MESHPLAN_RETURN_IF_ERROR(walk.run(nullptr, &observer));
    EXPECT_EQ(made, 1);
    return Status();
  });
}

TEST_F(TrainingTest, WhatIsHeldHasNames) {
  train([](Walk &walk) -> Status {
    MESHPLAN_ASSIGN_OR_RETURN(Tensor part, walk.current("w.momentum_buffer"));
    EXPECT_EQ(part.elementCount(), 2);
    EXPECT_EQ(walk.current("v").status().message(), "the program has no parameter or state 'v'");
    return Status();
  });
}

TEST_F(TrainingTest, WhatLiesOnTheHostChangesThere) {
  for (int value : {1, 2, 5, 6})
    builder.program().values[value]->host = true;
  builder.write(folder / "test.sched");
  Tensors held = train([](Walk &walk) -> Status {
    EXPECT_EQ(residentBytes(walk.view()).parameters, 0);
    EXPECT_EQ(residentBytes(walk.view()).hostParameters, 2 * 8);
    EXPECT_EQ(residentBytes(walk.view()).hostStates, 2 * 8);
    MESHPLAN_RETURN_IF_ERROR(walk.run());
    return walk.run();
  });
  EXPECT_TRUE(at::allclose(held["w"], 1 - 0.25 * gradient, 0, 1e-15));
  EXPECT_TRUE(at::allclose(held["w.momentum_buffer"], 1.5 * gradient, 0, 1e-15));
  EXPECT_EQ(hostPeak, 2 * 2 * 8) << "parameter and momentum, which change in place";
}

} // namespace
