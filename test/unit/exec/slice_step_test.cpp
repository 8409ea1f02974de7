#include "test/unit/exec/schedule_builder.h"

#include <gmock/gmock.h>

using namespace meshplan;

static at::Tensor sliced(std::vector<TestDim> from, std::vector<TestDim> into, const at::Tensor &x) {
  ScheduleBuilder builder({{"dp", 2}, {"tp", 3}});
  int input = builder.input("x", std::move(from)), output = builder.value(std::move(into));
  builder.slice(input, output);
  builder.output("y", output);
  return mustRun(builder, {{"x", x}})["y"];
}

TEST(SliceTest, OneDim) {
  at::Tensor x = at::randn({4, 7}, at::kDouble);
  EXPECT_TRUE(at::equal(sliced({{4}, {7}}, {{4}, {7, {"tp"}}}, x), x));
}

TEST(SliceTest, TwoDimsAtOnce) {
  at::Tensor x = at::randn({4, 7}, at::kDouble);
  EXPECT_TRUE(at::equal(sliced({{4}, {7}}, {{4, {"dp"}}, {7, {"tp"}}}, x), x));
}

TEST(SliceTest, FurtherAxisOfADividedDim) {
  at::Tensor x = at::randn({12, 2}, at::kDouble);
  EXPECT_TRUE(at::equal(sliced({{12, {"dp"}}, {2}}, {{12, {"dp", "tp"}}, {2}}, x), x));
}

TEST(SliceTest, Parts) {
  at::Tensor x = at::randn({2, 12}, at::kDouble);
  std::vector<int64_t> parts = {6, 3, 3};
  EXPECT_TRUE(at::equal(sliced({{2}, {12, {}, 1, parts}}, {{2}, {12, {"tp"}, 1, parts}}, x), x));
}

TEST(SliceTest, ShardsWithoutElements) {
  at::Tensor x = at::randn({2, 2}, at::kDouble);
  EXPECT_TRUE(at::equal(sliced({{2}, {2}}, {{2}, {2, {"tp"}}}, x), x));
}

TEST(SliceTest, RankMustHoldWhatItKeeps) {
  ScheduleBuilder builder({{"dp", 2}, {"tp", 2}});
  int input = builder.input("x", {{4, {"dp"}}}), output = builder.value({{4, {"tp"}}});
  builder.origin("model.norm", 7, "sequence tp");
  builder.slice(input, output);
  EXPECT_THAT(runSchedule(builder, {{"x", at::zeros({4}, at::kDouble)}}).status().message(),
              testing::EndsWith(
                  ": slice (test.plan:7:3 sequence tp, module model.norm): the rank does not hold all of the part that "
                  "it should keep"));
}
