#include "runtime/exec/origin.h"

#include "test/unit/exec/loaded_schedule.h"

using namespace meshplan;

namespace {

/// The origin of a schedule's only instruction, after `change`.
std::string originAfter(const std::function<void(artifact::ScheduleT &)> &change) {
  ScheduleBuilder builder({{"tp", 1}});
  int x = builder.input("x", {{2}}), y = builder.value({{2}});
  builder.origin("model.layers.0.mlp", 12, "rowwise tp");
  builder.slice(x, y);
  change(builder.schedule());
  LoadedSchedule loaded(builder);
  return originText(loaded.schedule(), loaded.instruction(0));
}

} // namespace

TEST(OriginTest, StatementAndModule) {
  EXPECT_EQ(originAfter([](auto &) {}), "test.plan:12:3 rowwise tp, module model.layers.0.mlp");
}

TEST(OriginTest, AStatementOnly) {
  EXPECT_EQ(originAfter([](artifact::ScheduleT &s) { s.origins[0]->module_ = ""; }), "test.plan:12:3 rowwise tp");
  EXPECT_EQ(originAfter([](artifact::ScheduleT &s) {
              s.origins[0]->module_ = "";
              s.sources[0]->text = "";
            }),
            "test.plan:12:3");
}

TEST(OriginTest, AModuleOnly) {
  EXPECT_EQ(originAfter([](artifact::ScheduleT &s) { s.origins[0]->plan = -1; }), "module model.layers.0.mlp");
}

TEST(OriginTest, Nothing) {
  EXPECT_EQ(originAfter([](artifact::ScheduleT &s) { s.programs[0]->instructions[0]->origin = -1; }), "");
  EXPECT_EQ(originAfter([](artifact::ScheduleT &s) {
              s.origins[0]->plan = -1;
              s.origins[0]->module_ = "";
            }),
            "");
}

TEST(OriginTest, InstructionsThatMakeValues) {
  ScheduleBuilder builder({{"tp", 2}});
  int x = builder.input("x", {{2, {"tp"}}}), g = builder.value({{2}}), y = builder.value({{2}});
  int s = builder.value({{2, {"tp"}}});
  builder.collective(Kind::all_gather, {"tp"}, x, g, 0);
  builder.compute("aten.relu.default", {tensorArg("self", g)}, {y});
  builder.slice(y, s);
  LoadedSchedule loaded(builder);
  const artifact::Program &program = *loaded.schedule().programs()->Get(0);
  EXPECT_EQ(producingInstruction(program, x), std::nullopt);
  EXPECT_EQ(producingInstruction(program, g), 1) << "the wait";
  EXPECT_EQ(producingInstruction(program, y), 2);
  EXPECT_EQ(producingInstruction(program, s), 3);
}

TEST(OriginTest, InstructionsThatMakeSeveralValues) {
  ScheduleBuilder builder({{"dp", 2}});
  std::vector<int> stored = {builder.flat(builder.parameter({"w"}, {{4}}), {"dp"}),
                             builder.flat(builder.parameter({"b"}, {{3}}), {"dp"})};
  int w = builder.value({{4}}), b = builder.value({{3}}), y = builder.value({{4}});
  builder.bucket(Kind::all_gather, {"dp"}, stored, {w, b});
  builder.compute("aten.relu.default", {tensorArg("self", w)}, {y});
  LoadedSchedule loaded(builder);
  const artifact::Program &program = loaded.program();
  // The first two pack and start.
  EXPECT_EQ(producingInstruction(program, w), 3) << "where it is unpacked, after the wait";
  EXPECT_EQ(producingInstruction(program, b), 3) << "the same";
  EXPECT_EQ(producingInstruction(program, y), 4);
  EXPECT_EQ(producingInstruction(program, stored[1]), std::nullopt);
}

TEST(OriginTest, ASourceWithoutFile) {
  EXPECT_EQ(originAfter([](artifact::ScheduleT &s) { s.sources[0]->file = ""; }),
            ":12:3 rowwise tp, module model.layers.0.mlp");
}
