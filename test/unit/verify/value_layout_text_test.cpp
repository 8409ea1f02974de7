//===- value_layout_text_test.cpp - layouts as text -----------------------===//

#include "runtime/verify/value_layout_text.h"

#include "test/unit/exec/loaded_schedule.h"

using namespace meshplan;

TEST(LayoutTextTest, DimsAndAxes) {
  ScheduleBuilder builder({{"dp", 2}, {"tp", 4}});
  int w = builder.parameter({"w"}, {{48, {"dp", "tp"}}, {32}}, DType::bf16), s = builder.parameter({"s"}, {});
  int digit = builder.parameter({"d"}, {{4, {"tp"}}}, DType::i64);
  builder.program().values[digit]->dims[0]->axes = {artifact::AxisRef(1, 1, 2)};
  LoadedSchedule loaded(builder);
  auto text = [&](int value) { return layoutText(loaded.schedule(), *loaded.program().values()->Get(value)); };
  EXPECT_EQ(text(w), "[48 over dp, tp, 32] bf16");
  EXPECT_EQ(text(s), "[] f64");
  EXPECT_EQ(text(digit), "[4 over tp:2] i64");
}

TEST(LayoutTextTest, FlatValues) {
  ScheduleBuilder builder({{"pod", 2}, {"dp", 2}, {"tp", 4}});
  int stored = builder.flat(builder.parameter({"w"}, {{48, {"tp"}}, {32}}, DType::bf16), {"pod", "dp"});
  int scalar = builder.flat(builder.parameter({"s"}, {}), {"dp"});
  builder.program().values[scalar]->flat_axes = {artifact::AxisRef(2, 1, 2)};
  LoadedSchedule loaded(builder);
  auto text = [&](int value) { return layoutText(loaded.schedule(), *loaded.program().values()->Get(value)); };
  EXPECT_EQ(text(stored), "[48 over tp, 32] bf16 flat over pod, dp");
  EXPECT_EQ(text(scalar), "[] f64 flat over tp:2");
}
