#include "runtime/exec/steps/host_copy_step.h"

#include "runtime/artifact/artifact.h"
#include "runtime/tensor/memory.h"
#include "runtime/tensor/torch/access.h"
#include "test/unit/exec/loaded_schedule.h"
#include "test/unit/exec/run_schedule.h"

#include <gmock/gmock.h>

using namespace meshplan;

TEST(HostCopyStepTest, ToTheHostAndBack) {
  ScheduleBuilder builder({{"tp", 3}});
  int x = builder.input("x", {{4}, {7, {"tp"}}}), there = builder.value({{4}, {7, {"tp"}}}),
      back = builder.value({{4}, {7, {"tp"}}});
  builder.onHost(there);
  builder.copy(x, there);
  builder.copy(there, back);
  builder.output("y", back);
  at::Tensor whole = at::randn({4, 7}, at::kDouble);
  EXPECT_TRUE(at::equal(mustRun(builder, {{"x", whole}})["y"], whole));
}

TEST(HostCopyStepTest, IntoATarget) {
  ScheduleBuilder builder({{"tp", 2}});
  int x = builder.input("x", {{4}}), w = builder.parameter({"w"}, {{4}}), there = builder.value({{4}}),
      changed = builder.value({{4}}), sum = builder.value({{4}});
  builder.onHost(there);
  builder.copy(x, there);
  builder.copy(there, changed, /*target=*/w);
  builder.compute("aten.add.Tensor", {tensorArg("self", changed), tensorArg("other", x)}, {sum});
  builder.output("y", sum);
  at::Tensor whole = at::randn({4}, at::kDouble);
  Tensors outputs = mustRun(builder, {{"x", whole}, {"w", at::zeros({4}, at::kDouble)}});
  EXPECT_TRUE(at::equal(outputs["y"], whole + whole));
  LoadedSchedule loaded(builder);
  EXPECT_EQ(firstUpdateOf(loaded.view(0).program()), 2) << "a checkpoint copies the parameter before";
}

TEST(HostCopyStepTest, NamesAndMemory) {
  ScheduleBuilder builder({{"tp", 1}});
  int x = builder.input("x", {{4}, {3}}), there = builder.value({{4}, {3}}), back = builder.value({{4}, {3}});
  builder.onHost(there);
  builder.copy(x, there);
  builder.copy(there, back);
  LoadedSchedule loaded(builder);
  CopyLanes lanes;
  auto steps = prepareSteps(loaded.view(0), Groups(), lanes);
  ASSERT_TRUE(steps.ok()) << steps.status().message();
  std::vector<std::string> names;
  for (const std::unique_ptr<Step> &step : *steps)
    names.push_back(step->name());
  EXPECT_THAT(names, testing::ElementsAre("copy 0 to the host", "wait copy 0 to the host", "copy 1 to the device",
                                          "wait copy 1 to the device"));
  installPoolAllocator();
  auto device = std::make_shared<MemoryPool>(), host = std::make_shared<MemoryPool>();
  at::Tensor input = at::randn({3, 4}, at::kDouble).t();
  std::vector<Tensor> values(3);
  values[x] = wrap(input);
  {
    PoolScope pools(device, host);
    for (size_t step : {0, 1})
      EXPECT_TRUE((*steps)[step]->run(values).ok());
    EXPECT_EQ(host->current(), 96);
    EXPECT_EQ(device->current(), 0);
    EXPECT_EQ(device->peak(), 96) << "elements that are not row-major are brought together where they are";
    for (size_t step : {2, 3})
      EXPECT_TRUE((*steps)[step]->run(values).ok());
    EXPECT_EQ(device->current(), 96);
    EXPECT_EQ(host->peak(), 96);
  }
  for (int value : {there, back}) {
    EXPECT_TRUE(at::equal(unwrap(values[value]), input));
    EXPECT_TRUE(values[value].isContiguous());
  }
  EXPECT_EQ((*steps)[1]->waitedSeconds(), 0) << "no other rank is waited for";
}

TEST(HostCopyStepTest, AFailureNamesTheCopy) {
  ScheduleBuilder builder({{"tp", 1}});
  int x = builder.input("x", {{4}}), there = builder.value({{4}});
  builder.onHost(there);
  builder.origin("model.norm", 7, "offload");
  builder.copy(x, there);
  LoadedSchedule loaded(builder);
  CopyLanes lanes;
  auto steps = prepareSteps(loaded.view(0), Groups(), lanes);
  ASSERT_TRUE(steps.ok()) << steps.status().message();
  std::vector<Tensor> values(2);
  values[x] = wrap(at::zeros({5}, at::kDouble));
  EXPECT_TRUE((*steps)[0]->run(values).ok());
  EXPECT_EQ((*steps)[1]->run(values).message(),
            "rank 0: copy 0 to the host (test.plan:7:3 offload, module model.norm): "
            "cannot copy [5] f64 into [4] f64");
}
