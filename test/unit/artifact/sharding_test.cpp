//===- sharding_test.cpp - local shapes of an artifact's values -----------===//

#include "runtime/artifact/sharding.h"

#include "test/unit/artifact/build_schedule.h"

#include <gmock/gmock.h>

namespace meshplan {
namespace {

using testing::ElementsAre;

TEST(Sharding, LocalShapesAndRanges) {
  size_t size;
  std::vector<uint64_t> bytes = pack(buildSchedule(), size);
  Expected<const artifact::Schedule *> schedule = verifySchedule(std::as_bytes(std::span(bytes)).first(size));
  ASSERT_TRUE(schedule.ok()) << schedule.status().message();
  const artifact::Program &program = *(*schedule)->programs()->Get(0);
  std::vector<int64_t> mesh = meshSizesOf(**schedule, program);
  EXPECT_THAT(mesh, ElementsAre(2, 3));
  EXPECT_EQ(worldSizeOf(mesh), 6);
  // 12 columns of two parts, 8 and 4, in blocks of 2, over tp = 3: the first rank holds 4 and 2.
  const artifact::Value &value = *program.values()->Get(part);
  EXPECT_THAT(globalShapeOf(value), ElementsAre(8, 12));
  EXPECT_THAT(localShapeOf(value, mesh, std::vector<int64_t>{1, 0}), ElementsAre(4, 6));
  EXPECT_THAT(localShapeOf(value, mesh, std::vector<int64_t>{1, 2}), ElementsAre(4, 2));
  EXPECT_THAT(localRangesOf(value, mesh, std::vector<int64_t>{1, 0}),
              ElementsAre(ElementsAre(Range{4, 4}), ElementsAre(Range{0, 4}, Range{8, 2})));
  EXPECT_EQ(dtypeOf(value.dtype()), DType::f32);
}

/// A verified schedule and its memory.
class LoadedSchedule {
public:
  explicit LoadedSchedule(const artifact::ScheduleT &schedule) : words(pack(schedule, size)) {
    Expected<const artifact::Schedule *> verified = verifySchedule(std::as_bytes(std::span(words)).first(size));
    EXPECT_TRUE(verified.ok()) << verified.status().message();
    loaded = verified.ok() ? *verified : nullptr;
  }
  const artifact::Schedule &get() const { return *loaded; }
  const artifact::Program &program() const { return *loaded->programs()->Get(0); }

private:
  size_t size;
  std::vector<uint64_t> words;
  const artifact::Schedule *loaded;
};

TEST(Sharding, TheRanksOfAMeshHoldEachElementOnce) {
  LoadedSchedule schedule(buildSchedule());
  std::vector<int64_t> mesh = meshSizesOf(schedule.get(), schedule.program());
  const artifact::Value &value = *schedule.program().values()->Get(part); // [8 over dp, 12 over tp]
  std::vector<int> holders(8 * 12, 0);
  for (int64_t dp = 0; dp < 2; ++dp)
    for (int64_t tp = 0; tp < 3; ++tp) {
      std::vector<int64_t> coordinate = {dp, tp};
      auto ranges = localRangesOf(value, mesh, coordinate);
      std::vector<int64_t> local = localShapeOf(value, mesh, coordinate);
      for (size_t dim = 0; dim < 2; ++dim) {
        int64_t sum = 0;
        for (const Range &range : ranges[dim])
          sum += range.size;
        EXPECT_EQ(local[dim], sum) << "shape and ranges agree";
      }
      for (const Range &rows : ranges[0])
        for (const Range &columns : ranges[1])
          for (int64_t row = rows.offset; row < rows.offset + rows.size; ++row)
            for (int64_t column = columns.offset; column < columns.offset + columns.size; ++column)
              ++holders[row * 12 + column];
    }
  EXPECT_THAT(holders, testing::Each(1));
}

TEST(Sharding, WhatIsNotDividedIsWholeOnEveryRank) {
  LoadedSchedule schedule(buildSchedule());
  const artifact::Value &value = *schedule.program().values()->Get(whole);
  std::vector<int64_t> mesh = meshSizesOf(schedule.get(), schedule.program());
  for (const artifact::Dim *dim : *value.dims())
    if (axesOf(dim->axes()).empty()) {
      DimSharding sharding = dimShardingOf(*dim);
      EXPECT_EQ(localExtent(sharding, mesh, std::vector<int64_t>{1, 2}), dim->extent());
    }
  EXPECT_THAT(axesOf(nullptr), testing::IsEmpty());
  EXPECT_THAT(meshSizesOf(nullptr), testing::IsEmpty());
  EXPECT_EQ(worldSizeOf({}), 1) << "one rank";
}

TEST(Sharding, DTypesAreNumberedAlike) {
  for (artifact::DType dtype : artifact::EnumValuesDType()) {
    std::string_view name = artifact::EnumNameDType(dtype);
    EXPECT_EQ(dtypeName(dtypeOf(dtype)), name == "boolean" ? "bool" : name);
  }
}

} // namespace
} // namespace meshplan
