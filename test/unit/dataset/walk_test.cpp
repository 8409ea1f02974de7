//===- walk_test.cpp - a program on ranks that reads a data set -------===//

#include "runtime/comm/threads/run_threads.h"
#include "runtime/dataset/dataset_feed.h"
#include "runtime/exec/program_runner.h"
#include "runtime/tensor/compute_scope.h"

#include "test/unit/dataset/helpers.h"
#include "test/unit/exec/schedule_builder.h"

#include <mutex>

namespace meshplan {
namespace {

constexpr int64_t sampleBatch = 4, sampleLength = 6, sampleCount = 9, steps = 5;

/// A program that returns its inputs; the batch is sharded over dp, and the labels over tp, too.
class DatasetWalk : public testing::Test {
protected:
  DatasetWalk() {
    ids = builder.input("input_ids", {{sampleBatch, {"dp"}}, {sampleLength}}, DType::i64);
    labels = builder.input("labels", {{sampleBatch, {"dp"}}, {sampleLength, {"tp"}}}, DType::i64);
    builder.output("input_ids", ids);
    builder.output("labels", labels);
    builder.write(folder / "test.sched");
    writeText(folder / "d.bin", bytesOf(counting<uint16_t>(sampleCount * sampleLength + 1)));
  }

  /// A rank's shard of an input in one step.
  struct Part {
    int64_t step, rank;
    int value;
    std::vector<int64_t> tokens;
  };

  Status runRank(const Artifact &artifact, const std::shared_ptr<const Dataset> &dataset, World &world) {
    ComputeScope scope(1);
    const artifact::Program &program = *artifact.schedule().programs()->Get(0);
    MESHPLAN_ASSIGN_OR_RETURN(auto runner, ProgramRunner::create(artifact, program, world));
    DatasetFeed feed(dataset, 0);
    for (int64_t step = 0; step < steps; ++step) {
      MESHPLAN_RETURN_IF_ERROR(runner.loadInputs(feed));
      feed.advance();
      MESHPLAN_RETURN_IF_ERROR(runner.walk().run());
      std::lock_guard lock(mutex);
      for (int value : {ids, labels}) {
        const Tensor &tensor = runner.walk().valueOf(value);
        const auto *begin = reinterpret_cast<const int64_t *>(tensor.data());
        parts.push_back({step, world.rank(), value, {begin, begin + tensor.elementCount()}});
      }
    }
    return Status();
  }

  ScheduleBuilder builder{{{"dp", 2}, {"tp", 2}}};
  int ids, labels;
  TemporaryDirectory folder;
  std::mutex mutex;
  std::vector<Part> parts;
};

TEST_F(DatasetWalk, RanksHaveTheirRowsAndColumns) {
  Expected<Artifact> artifact = loadSchedule(folder / "test.sched");
  ASSERT_TRUE(artifact.ok()) << artifact.status().message();
  const artifact::Program &program = *artifact->schedule().programs()->Get(0);
  auto dataset = Dataset::open(std::vector<std::string>{folder / "d.bin"}, inputsOf(program),
                               {.shuffles = false, .tokens = {{"labels", TokenOffset::next}}});
  ASSERT_TRUE(dataset.ok()) << dataset.status().message();
  auto statuses = runThreads(4, {.timeout = std::chrono::seconds(20), .onStuck = nullptr},
                             [&](World &world) { return runRank(*artifact, *dataset, world); });
  ASSERT_TRUE(rootCause(statuses).ok()) << rootCause(statuses).message();
  EXPECT_EQ(parts.size(), 4u * 2 * steps);
  for (const Part &part : parts) {
    int64_t dp = part.rank / 2, tp = part.rank % 2;
    std::vector<int64_t> expected;
    for (int64_t row = 0; row < sampleBatch / 2; ++row) {
      int64_t sample = (part.step * sampleBatch + dp * (sampleBatch / 2) + row) % sampleCount;
      bool isLabel = part.value == labels;
      int64_t begin = isLabel ? 1 + tp * (sampleLength / 2) : 0;
      for (int64_t i = 0; i < (isLabel ? sampleLength / 2 : sampleLength); ++i)
        expected.push_back(sample * sampleLength + begin + i);
    }
    EXPECT_EQ(part.tokens, expected) << "step " << part.step << " rank " << part.rank << " value " << part.value;
  }
}

TEST_F(DatasetWalk, InputsOfTheProgram) {
  Expected<Artifact> artifact = loadSchedule(folder / "test.sched");
  ASSERT_TRUE(artifact.ok()) << artifact.status().message();
  std::vector<DataInput> inputs = inputsOf(*artifact->schedule().programs()->Get(0));
  ASSERT_EQ(inputs.size(), 2u);
  EXPECT_EQ(inputs[0].name, "input_ids");
  EXPECT_EQ(inputs[1].name, "labels");
  for (const DataInput &input : inputs) {
    EXPECT_EQ(input.dtype, DType::i64);
    EXPECT_THAT(input.shape, testing::ElementsAre(sampleBatch, sampleLength)) << "global";
  }
}

} // namespace
} // namespace meshplan
