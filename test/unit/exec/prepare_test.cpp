#include "runtime/exec/prepare.h"

#include "runtime/comm/threads/run_threads.h"
#include "runtime/tensor/torch/access.h"
#include "test/unit/exec/loaded_schedule.h"
#include "test/unit/exec/run_schedule.h"

#include <gmock/gmock.h>

using namespace meshplan;

namespace {

/// Calls `body` with the steps of the only rank.
void withSteps(const ScheduleBuilder &builder,
               const std::function<void(std::vector<std::unique_ptr<Step>> &, const LoadedSchedule &)> &body,
               const OutputNames *asked = nullptr) {
  LoadedSchedule loaded(builder);
  CopyLanes lanes;
  auto statuses = runThreads(1, {.timeout = std::chrono::seconds(20)}, [&](World &world) -> Status {
    Groups groups;
    if (loaded.schedule().communicators())
      for (const artifact::Communicator *communicator : *loaded.schedule().communicators()) {
        MESHPLAN_ASSIGN_OR_RETURN(auto group, world.createGroup({0}, communicator->name()->str()));
        groups.push_back(std::move(group));
      }
    MESHPLAN_ASSIGN_OR_RETURN(auto steps, prepareSteps(loaded.view(0), groups, lanes, asked));
    body(steps, loaded);
    return Status();
  });
  EXPECT_TRUE(statuses[0].ok()) << statuses[0].message();
}

std::string scheduleRefusal(const ScheduleBuilder &builder) {
  LoadedSchedule loaded(builder);
  CopyLanes lanes;
  return prepareSteps(loaded.view(0), Groups(), lanes).status().message();
}

} // namespace

TEST(PrepareTest, AStepForEachInstructionWithItsName) {
  ScheduleBuilder builder({{"tp", 1}});
  int x = builder.input("x", {{4}}), y = builder.value({{4}}), part = builder.value({{4, {"tp"}}}),
      whole = builder.value({{4}}), turned = builder.value({{4}});
  builder.compute("aten.relu.default", {tensorArg("self", x)}, {y});
  builder.slice(y, part);
  builder.collective(Kind::all_gather, {"tp"}, part, whole, 0);
  builder.collective(Kind::permute, {"tp"}, whole, turned);
  builder.free({x, y});
  withSteps(builder, [](auto &steps, const LoadedSchedule &) {
    std::vector<std::string> names;
    for (const std::unique_ptr<Step> &step : steps)
      names.push_back(step->name());
    EXPECT_THAT(names, testing::ElementsAre("aten.relu.default", "slice", "all-gather 0", "wait all-gather 0",
                                            "permute 1", "wait permute 1", "free"));
  });
}

TEST(PrepareTest, TheStepsRunInOrder) {
  ScheduleBuilder builder({{"tp", 1}});
  int x = builder.input("x", {{4}}), y = builder.value({{4}}), whole = builder.value({{4}});
  builder.compute("aten.relu.default", {tensorArg("self", x)}, {y});
  builder.collective(Kind::permute, {"tp"}, y, whole);
  builder.free({x, y});
  withSteps(builder, [&](auto &steps, const LoadedSchedule &) {
    at::Tensor input = at::randn({4}, at::kDouble);
    std::vector<Tensor> values(3);
    values[x] = wrap(input);
    for (const std::unique_ptr<Step> &step : steps) {
      EXPECT_TRUE(values[x].defined()) << "until the last step frees it";
      Status status = step->run(values);
      ASSERT_TRUE(status.ok()) << status.message();
    }
    EXPECT_FALSE(values[x].defined());
    EXPECT_FALSE(values[y].defined());
    EXPECT_TRUE(at::equal(unwrap(values[whole]), input.relu()));
    EXPECT_EQ(input.use_count(), 1) << "no step keeps it";
  });
}

TEST(PrepareTest, NoInstructions) {
  withSteps(ScheduleBuilder({{"tp", 1}}), [](auto &steps, const LoadedSchedule &) { EXPECT_TRUE(steps.empty()); });
}

TEST(PrepareTest, UnknownOperatorsAndArguments) {
  ScheduleBuilder builder({{"tp", 1}});
  int x = builder.input("x", {{4}}), y = builder.value({{4}}), z = builder.value({{4}});
  builder.compute("aten.relu.default", {tensorArg("self", x)}, {y});
  builder.origin("model.act", 9, "replicate");
  builder.compute("aten.gelu.default", {tensorArg("input", y)}, {z});
  EXPECT_EQ(scheduleRefusal(builder),
            "rank 0: the schedule (test.plan:9:3 replicate, module model.act): aten.gelu.default has no "
            "argument 'input'; its arguments are self, approximate");
  builder.program().instructions.back()->action.AsCompute()->target = "aten.galu.default";
  EXPECT_EQ(scheduleRefusal(builder),
            "rank 0: the schedule (test.plan:9:3 replicate, module model.act): there is no operator "
            "'aten.galu.default'");
}

TEST(PrepareTest, ContextOfAnInstruction) {
  ScheduleBuilder builder({{"tp", 3}});
  int x = builder.input("x", {{4}}), y = builder.value({{4}}), z = builder.value({{4}});
  builder.slice(x, y);
  builder.origin("lm_head", 4, "");
  builder.slice(x, z);
  LoadedSchedule loaded(builder);
  EXPECT_EQ(instructionContext(loaded.view(2), "slice", loaded.instruction(0)), "rank 2: slice");
  EXPECT_EQ(instructionContext(loaded.view(0), "aten.mm.default", loaded.instruction(1)),
            "rank 0: aten.mm.default (test.plan:4:3, module lm_head)");
}

/// Two outputs are inputs of the loss, or are only gathered as outputs.
TEST(PrepareTest, OutputsThatNobodyAskedForAreNotMade) {
  ScheduleBuilder builder({{"tp", 1}});
  int x = builder.input("x", {{4}}), logits = builder.value({{4}}), part = builder.value({{4, {"tp"}}}),
      states = builder.value({{4}}), loss = builder.value({});
  builder.compute("aten.relu.default", {tensorArg("self", x)}, {logits});
  builder.slice(x, part);
  builder.collective(Kind::all_gather, {"tp"}, part, states, 0);
  builder.compute("aten.sum.default", {tensorArg("self", logits)}, {loss});
  builder.free({part});
  builder.output("logits", logits);
  builder.output("states", states);
  builder.output("loss", loss);
  auto madeFor = [&](const OutputNames *asked) {
    std::vector<bool> made;
    auto run = [&](auto &steps, const LoadedSchedule &loaded) {
      std::vector<Tensor> values(loaded.view(0).program().values()->size());
      values[x] = wrap(at::ones({4}, at::kDouble));
      for (const std::unique_ptr<Step> &step : steps)
        ASSERT_TRUE(step->run(values).ok());
      for (int value : {logits, part, states, loss})
        made.push_back(values[value].defined());
    };
    withSteps(builder, run, asked);
    return made;
  };
  EXPECT_THAT(madeFor(nullptr), testing::ElementsAre(true, false, true, true));
  OutputNames one{"loss"}, other{"states"}, two{"loss", "logits"};
  EXPECT_THAT(madeFor(&one), testing::ElementsAre(false, false, false, true));
  EXPECT_THAT(madeFor(&other), testing::ElementsAre(false, false, true, false));
  EXPECT_THAT(madeFor(&two), testing::ElementsAre(true, false, false, true));
}
