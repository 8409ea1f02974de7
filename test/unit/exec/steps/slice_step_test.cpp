#include "runtime/exec/steps/step.h"

#include "runtime/tensor/torch/access.h"
#include "test/unit/exec/loaded_schedule.h"
#include "test/unit/exec/run_schedule.h"

#include <gmock/gmock.h>

using namespace meshplan;

static at::Tensor sliced(std::vector<TestDim> from, std::vector<TestDim> into, const at::Tensor &x) {
  ScheduleBuilder builder({{"dp", 2}, {"tp", 3}});
  int input = builder.input("x", std::move(from)), output = builder.value(std::move(into));
  builder.slice(input, output);
  builder.output("y", output);
  return mustRun(builder, {{"x", x}})["y"];
}

TEST(SliceStepTest, OneDim) {
  at::Tensor x = at::randn({4, 7}, at::kDouble);
  EXPECT_TRUE(at::equal(sliced({{4}, {7}}, {{4}, {7, {"tp"}}}, x), x));
}

TEST(SliceStepTest, TwoDimsAtOnce) {
  at::Tensor x = at::randn({4, 7}, at::kDouble);
  EXPECT_TRUE(at::equal(sliced({{4}, {7}}, {{4, {"dp"}}, {7, {"tp"}}}, x), x));
}

TEST(SliceStepTest, FurtherAxisOfADividedDim) {
  at::Tensor x = at::randn({12, 2}, at::kDouble);
  EXPECT_TRUE(at::equal(sliced({{12, {"dp"}}, {2}}, {{12, {"dp", "tp"}}, {2}}, x), x));
}

TEST(SliceStepTest, Parts) {
  at::Tensor x = at::randn({2, 12}, at::kDouble);
  std::vector<int64_t> parts = {6, 3, 3};
  EXPECT_TRUE(at::equal(sliced({{2}, {12, {}, 1, parts}}, {{2}, {12, {"tp"}, 1, parts}}, x), x));
}

TEST(SliceStepTest, ShardsWithoutElements) {
  at::Tensor x = at::randn({2, 2}, at::kDouble);
  EXPECT_TRUE(at::equal(sliced({{2}, {2}}, {{2}, {2, {"tp"}}}, x), x));
}

TEST(SliceStepTest, RankMustHoldWhatItKeeps) {
  ScheduleBuilder builder({{"dp", 2}, {"tp", 2}});
  int input = builder.input("x", {{4, {"dp"}}}), output = builder.value({{4, {"tp"}}});
  builder.origin("model.norm", 7, "sequence tp");
  builder.slice(input, output);
  EXPECT_THAT(runSchedule(builder, {{"x", at::zeros({4}, at::kDouble)}}).status().message(),
              testing::EndsWith(": slice (test.plan:7:3 sequence tp, module model.norm): the rank does not hold the "
                                "whole slice"));
}

namespace {

/// The slice that the last of six ranks keeps of its part of x, and whether it is a view.
std::pair<at::Tensor, bool> keptByLast(std::vector<TestDim> from, std::vector<TestDim> into, const at::Tensor &part) {
  ScheduleBuilder builder({{"dp", 2}, {"tp", 3}});
  int input = builder.input("x", std::move(from)), output = builder.value(std::move(into));
  builder.slice(input, output);
  LoadedSchedule loaded(builder);
  auto step = prepareSlice(loaded.view(5), loaded.instruction(0));
  EXPECT_TRUE(step.ok()) << step.status().message();
  std::vector<Tensor> values(2);
  values[input] = wrap(at::Tensor(part));
  Status status = (*step)->run(values);
  EXPECT_TRUE(status.ok()) << status.message();
  at::Tensor kept = unwrap(values[output]);
  return {kept, kept.is_alias_of(part)};
}

} // namespace

TEST(SliceStepTest, ADimWithPartsIsCopiedByEveryRank) {
  at::Tensor x = at::randn({3}, at::kDouble);
  // The last rank has nothing of the first part, and the last element of the second.
  auto [last, isView] = keptByLast({{3, {}, 1, {1, 2}}}, {{3, {"dp"}, 1, {1, 2}}}, x);
  EXPECT_FALSE(isView) << "the compiler counts a copy on every rank";
  EXPECT_TRUE(at::equal(last, x.slice(0, 2)));
}

TEST(SliceStepTest, OneRangeIsAViewAndSeveralAreACopy) {
  at::Tensor x = at::randn({4, 12}, at::kDouble);
  auto [rows, isView] = keptByLast({{4}, {12}}, {{4, {"dp"}}, {12, {"tp"}}}, x);
  EXPECT_TRUE(isView);
  EXPECT_TRUE(at::equal(rows, x.slice(0, 2).slice(1, 8)));
  auto [parts, isViewOfParts] = keptByLast({{4}, {12, {}, 1, {6, 6}}}, {{4}, {12, {"tp"}, 1, {6, 6}}}, x);
  EXPECT_FALSE(isViewOfParts);
  EXPECT_TRUE(at::equal(parts, at::cat({x.slice(1, 4, 6), x.slice(1, 10, 12)}, 1)));
}

TEST(SliceStepTest, AStridedInput) {
  at::Tensor x = at::randn({12, 4}, at::kDouble).t();
  EXPECT_TRUE(at::equal(keptByLast({{4}, {12}}, {{4}, {12, {"tp"}}}, x).first, x.slice(1, 8)));
  at::Tensor parts = keptByLast({{4}, {12, {}, 1, {6, 6}}}, {{4}, {12, {"tp"}, 1, {6, 6}}}, x).first;
  EXPECT_TRUE(at::equal(parts, at::cat({x.slice(1, 4, 6), x.slice(1, 10, 12)}, 1)));
}

TEST(SliceStepTest, NothingIsCutOrNothingIsLeft) {
  at::Tensor x = at::randn({2, 2}, at::kDouble);
  auto [whole, isView] = keptByLast({{2}, {2}}, {{2}, {2}}, x);
  EXPECT_TRUE(isView);
  EXPECT_TRUE(at::equal(whole, x));
  // Of two rows, the last of three ranks has none.
  EXPECT_EQ(keptByLast({{2}, {2}}, {{2, {"tp"}}, {2}}, x).first.sizes(), (at::IntArrayRef{0, 2}));
}

TEST(SliceStepTest, APartOfWhatTheRankHolds) {
  // dp = 1 has rows 4 to 6 of 7, and its last rank of tp has the last of them.
  at::Tensor part = at::randn({3, 2}, at::kDouble);
  EXPECT_TRUE(at::equal(keptByLast({{7, {"dp"}}, {2}}, {{7, {"dp", "tp"}}, {2}}, part).first, part.slice(0, 2)));
}

TEST(SliceStepTest, RowsOfExpertsKeepTheirNumber) {
  // 4 experts, 6 tokens of 2 slots: 12 rows if all ranks have all experts, and 6 for the experts of one of two ranks.
  // This rank has 5.
  for (std::vector<int64_t> parts : {std::vector<int64_t>(), {6, 6}}) {
    ScheduleBuilder builder({{"dp", 2}, {"tp", 3}});
    auto rows = [&](std::vector<std::string> axes) {
      int value = builder.value({{4, {"dp"}}, {6}, {12, std::move(axes), 1, parts}});
      return builder.routed(value, artifact::RoutedKind::rows, 2, 2);
    };
    int input = rows({}), output = rows({"tp"});
    builder.compute("test.rows", {}, {input});
    builder.slice(input, output);
    LoadedSchedule loaded(builder);
    auto step = prepareSlice(loaded.view(5), loaded.instruction(1));
    ASSERT_TRUE(step.ok()) << step.status().message();
    at::Tensor x = at::randn({5, 12}, at::kDouble);
    std::vector<Tensor> values(2);
    values[input] = wrap(at::Tensor(x));
    Status status = (*step)->run(values);
    ASSERT_TRUE(status.ok()) << status.message();
    at::Tensor wanted = parts.empty() ? x.slice(1, 8) : at::cat({x.slice(1, 4, 6), x.slice(1, 10, 12)}, 1);
    EXPECT_TRUE(at::equal(unwrap(values[output]), wanted));
  }
}

TEST(SliceStepTest, FlatRunsAreCopies) {
  ScheduleBuilder builder({{"dp", 2}, {"tp", 3}});
  int input = builder.input("x", {{5}, {4}}), output = builder.flat(builder.value({{5}, {4}}), {"dp", "tp"});
  builder.slice(input, output);
  LoadedSchedule loaded(builder);
  at::Tensor x = at::randn({5, 4}, at::kDouble);
  for (int64_t rank = 0; rank < 6; ++rank) {
    auto step = prepareSlice(loaded.view(rank), loaded.instruction(0));
    ASSERT_TRUE(step.ok()) << step.status().message();
    std::vector<Tensor> values(2);
    values[input] = wrap(at::Tensor(x));
    ASSERT_TRUE((*step)->run(values).ok());
    at::Tensor kept = unwrap(values[output]);
    // Of 20 elements, those of rank i start at ceil(20 i / 6).
    int64_t begin = (20 * rank + 5) / 6, end = (20 * (rank + 1) + 5) / 6;
    EXPECT_TRUE(at::equal(kept, x.flatten().slice(0, begin, end))) << "rank " << rank;
    EXPECT_FALSE(kept.is_alias_of(x)) << "an optimizer changes it apart from what it was cut from";
  }
}

TEST(SliceStepTest, AFlatRunIsCutFurther) {
  ScheduleBuilder builder({{"dp", 2}, {"tp", 3}});
  int x = builder.input("x", {{5}, {4}}), rows = builder.flat(builder.value({{5}, {4}}), {"dp"}),
      cut = builder.flat(builder.value({{5}, {4}}), {"dp", "tp"});
  builder.slice(x, rows);
  builder.slice(rows, cut);
  builder.output("y", cut);
  at::Tensor tensor = at::randn({5, 4}, at::kDouble);
  EXPECT_TRUE(at::equal(mustRun(builder, {{"x", tensor}})["y"], tensor));
}

TEST(SliceStepTest, AStridedTensorIsCutInItsOwnOrder) {
  ScheduleBuilder builder({{"dp", 2}, {"tp", 3}});
  int x = builder.input("x", {{4}, {5}}), turned = builder.value({{5}, {4}}),
      cut = builder.flat(builder.value({{5}, {4}}), {"tp"});
  builder.compute("aten.t.default", {tensorArg("self", x)}, {turned});
  builder.slice(turned, cut);
  builder.output("y", cut);
  at::Tensor tensor = at::randn({4, 5}, at::kDouble);
  EXPECT_TRUE(at::equal(mustRun(builder, {{"x", tensor}})["y"], tensor.t()));
}
