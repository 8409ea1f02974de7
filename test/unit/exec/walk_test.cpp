#include "test/unit/exec/run_schedule.h"

#include "runtime/comm/threads/run_threads.h"
#include "runtime/tensor/compute_scope.h"
#include "runtime/tensor/memory.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

using namespace meshplan;

namespace {

/// y = x w + x; w is freed after its use.
class WalkTest : public testing::Test {
protected:
  WalkTest() {
    int x = builder.input("x", {{64}, {32}}, DType::f32), w = builder.parameter({"w"}, {{32}, {32}}, DType::f32);
    int xw = builder.value({{64}, {32}}, DType::f32), y = builder.value({{64}, {32}}, DType::f32);
    builder.compute("aten.mm.default", {tensorArg("self", x), tensorArg("mat2", w)}, {xw});
    builder.free({w});
    builder.compute("aten.add.Tensor", {tensorArg("self", xw), tensorArg("other", x)}, {y});
    builder.free({xw, x});
    builder.output("y", y);
    builder.write(folder / "test.sched");
    auto loaded = loadSchedule(folder / "test.sched");
    EXPECT_TRUE(loaded.ok());
    artifact.emplace(*std::move(loaded));
  }

  void onOneRank(const std::function<Status(ProgramRunner &)> &body) {
    auto statuses = runThreads(1, {}, [&](World &world) -> Status {
      PoolScope pooled(pool);
      ComputeScope scope(1);
      MESHPLAN_ASSIGN_OR_RETURN(auto runner, ProgramRunner::create(*artifact, program(), world));
      MESHPLAN_RETURN_IF_ERROR(runner.loadParameters(RandomFeed()));
      MESHPLAN_RETURN_IF_ERROR(runner.loadInputs(RandomFeed()));
      return body(runner);
    });
    EXPECT_TRUE(statuses[0].ok()) << statuses[0].message();
  }

  const artifact::Program &program() { return *artifact->schedule().programs()->Get(0); }

  at::Tensor result(Walk &walk) {
    auto writer = SafetensorsWriter::create(folder / "y.safetensors", outputSpecs(program()));
    EXPECT_TRUE(walk.writeOutputs(*writer).ok());
    EXPECT_TRUE(writer->commit().ok());
    return readTensors(folder / "y.safetensors")["y"];
  }

  ScheduleBuilder builder{{{"tp", 1}}};
  TemporaryDirectory folder;
  std::optional<Artifact> artifact;
  std::shared_ptr<MemoryPool> pool = std::make_shared<MemoryPool>();
};

} // namespace

TEST_F(WalkTest, RunsAgainWithWhatTheProgramFreed) {
  onOneRank([&](ProgramRunner &runner) -> Status {
    Walk &walk = runner.walk();
    MESHPLAN_RETURN_IF_ERROR(walk.run());
    at::Tensor first = result(walk);
    MESHPLAN_RETURN_IF_ERROR(walk.run());
    EXPECT_TRUE(at::equal(result(walk), first));
    return Status();
  });
}

TEST_F(WalkTest, TakesOtherInputsBetweenRuns) {
  onOneRank([&](ProgramRunner &runner) -> Status {
    Walk &walk = runner.walk();
    MESHPLAN_RETURN_IF_ERROR(walk.run());
    MESHPLAN_RETURN_IF_ERROR(runner.loadInputs(TensorFeed({{"x", at::zeros({64, 32})}})));
    MESHPLAN_RETURN_IF_ERROR(walk.run());
    EXPECT_TRUE(at::equal(result(walk), at::zeros({64, 32})));
    return Status();
  });
}

TEST_F(WalkTest, CountsBytes) {
  installPoolAllocator();
  constexpr int64_t activation = 64 * 32 * 4, weight = 32 * 32 * 4;
  onOneRank([&](ProgramRunner &runner) -> Status {
    Walk &walk = runner.walk();
    EXPECT_EQ(residentBytes(walk.view()).parameters, weight);
    EXPECT_EQ(residentBytes(walk.view()).inputs, activation);
    EXPECT_EQ(residentBytes(walk.view()).constants, 0);
    for (int step = 0; step < 3; ++step)
      MESHPLAN_RETURN_IF_ERROR(walk.run());
    return Status();
  });
  // The weight and x are held throughout; x w and y once exist at the same time.
  EXPECT_EQ(pool->peak(), weight + 3 * activation);
  EXPECT_EQ(pool->current(), 0);
}

TEST_F(WalkTest, Traces) {
  Trace trace;
  onOneRank([&](ProgramRunner &runner) { return runner.walk().run(&trace); });
  ASSERT_TRUE(writeTraces(folder / "trace.json", {&trace, 1}).ok());
  auto file = MappedFile::open(folder / "trace.json");
  auto *text = reinterpret_cast<const char *>(file->bytes().data());
  auto events = nlohmann::json::parse(text, text + file->bytes().size())["traceEvents"];
  std::vector<std::string> names;
  for (const auto &event : events)
    names.push_back(event["name"]);
  EXPECT_THAT(names, testing::ElementsAre("process_name", "thread_name", "aten.mm.default", "aten.add.Tensor"));
  EXPECT_EQ(events[2]["ts"], 0.0);
  EXPECT_GE(events[3]["ts"].get<double>(), events[2]["dur"].get<double>());
  EXPECT_EQ(events[2]["args"]["direction"], "forward");
}
