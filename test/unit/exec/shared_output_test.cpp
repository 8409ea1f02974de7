//===- shared_output_test.cpp - one file that all ranks write -------------===//

#include "runtime/exec/shared_output.h"

#include "runtime/comm/threads/run_threads.h"
#include "runtime/data/tensor_source.h"
#include "test/unit/temporary_directory.h"

#include <gmock/gmock.h>

using namespace meshplan;

namespace {

const std::vector<TensorSpec> specs = {{"rows", DType::f32, {4, 2}}};

/// Each of four ranks writes its row: its rank, twice.
Status writeRow(World &world, const SafetensorsWriter &writer) {
  std::vector<float> row(2, static_cast<float>(world.rank()));
  return writer.write("rows", {{{world.rank(), 1}}, {{0, 2}}}, std::as_bytes(std::span(row)));
}

std::vector<Status> onFourRanks(const RankBody &body) { return runThreads(4, {}, body); }

TEST(SharedOutput, HoldsWhatAllRanksWrite) {
  TemporaryDirectory folder;
  std::string path = folder / "o.safetensors";
  auto statuses = onFourRanks([&](World &world) -> Status {
    MESHPLAN_ASSIGN_OR_RETURN(SharedOutput output, SharedOutput::open(world, path, specs));
    MESHPLAN_RETURN_IF_ERROR(writeRow(world, output.writer()));
    return output.commit();
  });
  EXPECT_TRUE(rootCause(statuses).ok()) << rootCause(statuses).message();
  EXPECT_THAT(folder.names(), testing::ElementsAre("o.safetensors"));
  auto source = TensorSource::open(path);
  ASSERT_TRUE(source.ok());
  std::vector<float> rows(8);
  const StoredTensor *tensor = source->find("rows");
  ASSERT_NE(tensor, nullptr);
  ASSERT_TRUE(source->read(*tensor, {{{0, 4}}, {{0, 2}}}, DType::f32, std::as_writable_bytes(std::span(rows))).ok());
  EXPECT_THAT(rows, testing::ElementsAre(0, 0, 1, 1, 2, 2, 3, 3));
}

TEST(SharedOutput, LeavesNothingWhenARankFails) {
  for (int64_t failing = 0; failing < 4; ++failing) {
    TemporaryDirectory folder;
    auto statuses = onFourRanks([&](World &world) -> Status {
      MESHPLAN_ASSIGN_OR_RETURN(SharedOutput output, SharedOutput::open(world, folder / "o.safetensors", specs));
      MESHPLAN_RETURN_IF_ERROR(writeRow(world, output.writer()));
      if (world.rank() == failing)
        return Status(StatusCode::internal, "numeric fault");
      return output.commit();
    });
    EXPECT_EQ(rootCause(statuses).message(), "numeric fault");
    EXPECT_THAT(folder.names(), testing::IsEmpty());
  }
}

TEST(SharedOutput, SaysWhyItCannotBeMade) {
  auto statuses = onFourRanks(
      [](World &world) -> Status { return SharedOutput::open(world, "/nowhere/o.safetensors", specs).status(); });
  EXPECT_EQ(rootCause(statuses).message(), "cannot write '/nowhere/o.safetensors': No such file or directory");
  for (int64_t rank = 1; rank < 4; ++rank)
    EXPECT_THAT(statuses[rank].message(), testing::HasSubstr("(creating the outputs): aborted"));
}

} // namespace
