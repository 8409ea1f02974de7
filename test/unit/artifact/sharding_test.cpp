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
  // 12 columns of two parts, 8 and 4, in units of 2, over tp = 3: the first rank holds 4 and 2.
  const artifact::Value &value = *program.values()->Get(part);
  EXPECT_THAT(globalShapeOf(value), ElementsAre(8, 12));
  EXPECT_THAT(localShapeOf(value, mesh, std::vector<int64_t>{1, 0}), ElementsAre(4, 6));
  EXPECT_THAT(localShapeOf(value, mesh, std::vector<int64_t>{1, 2}), ElementsAre(4, 2));
  EXPECT_THAT(localRangesOf(value, mesh, std::vector<int64_t>{1, 0}),
              ElementsAre(ElementsAre(Range{4, 4}), ElementsAre(Range{0, 4}, Range{8, 2})));
  EXPECT_EQ(dtypeOf(value.dtype()), DType::f32);
}

TEST(Sharding, DTypesAreNumberedAlike) {
  for (artifact::DType dtype : artifact::EnumValuesDType()) {
    std::string_view name = artifact::EnumNameDType(dtype);
    EXPECT_EQ(dtypeName(dtypeOf(dtype)), name == "boolean" ? "bool" : name);
  }
}

} // namespace
} // namespace meshplan
