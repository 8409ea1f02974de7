//===- origin_table_test.cpp - origins of instructions --------------------===//

#include "compiler/target/artifact/origin_table.h"
#include "test/unit/target/sched_module.h"

using namespace meshplan;
using testing::ElementsAre;
using testing::IsEmpty;

namespace {

/// Steps with these locations and modules.
class OriginTableTest : public testing::Test {
protected:
  /// "file:line:column text | module" of the origin of each step; "-" if it has none.
  std::vector<std::string> origins(const std::vector<std::string> &steps) {
    std::string text = schedHead + "sched.program @p {\n";
    for (const std::string &step : steps)
      text += "sched.compute \"aten.op\"() {} " + step + "\n";
    SchedModule owner(text + "}\n");
    EXPECT_TRUE(owner.get()) << testing::PrintToString(owner.messages);
    OriginTable table;
    std::vector<int32_t> indices;
    owner.get().walk([&](sched::ComputeOp step) { indices.push_back(table.originOf(step)); });
    artifact::ScheduleT schedule;
    table.moveInto(schedule);
    sources = schedule.sources.size();
    std::vector<std::string> texts;
    for (int32_t index : indices) {
      if (index < 0) {
        texts.push_back("-");
        continue;
      }
      const artifact::OriginT &origin = *schedule.origins.at(index);
      std::string place;
      if (origin.plan >= 0) {
        const artifact::SourceT &source = *schedule.sources.at(origin.plan);
        place =
            source.file + ":" + std::to_string(source.line) + ":" + std::to_string(source.column) + " " + source.text;
      }
      texts.push_back(std::to_string(index) + ": " + place + " | " + origin.module_);
    }
    return texts;
  }

  size_t sources = 0;
};

TEST_F(OriginTableTest, AStepHasAStatementAModuleBothOrNone) {
  EXPECT_THAT(origins({": () -> () loc(unknown)", "in \"m\" : () -> () loc(\"model.py\":1:2)",
                       "{cause = \"rowwise tp\"} : () -> () loc(\"a.plan\":3:4)",
                       "in \"m\" : () -> () loc(fused[\"model.py\":1:2, \"a.plan\":3:4])"}),
              ElementsAre("-", "0:  | m", "1: a.plan:3:4 rowwise tp | ", "2: a.plan:3:4  | m"));
}

TEST_F(OriginTableTest, AStatementIsARangeInAFileOfAnyName) {
  EXPECT_THAT(origins({": () -> () loc(\"layout.txt\":3:4 to :9)"}), ElementsAre("0: layout.txt:3:4  | "));
}

TEST_F(OriginTableTest, AFileIsNamedWithoutItsFolder) {
  EXPECT_THAT(origins({": () -> () loc(\"../plans/a.plan\":3:4)"}), ElementsAre("0: a.plan:3:4  | "));
}

TEST_F(OriginTableTest, WhatIsTheSameIsOneEntry) {
  EXPECT_THAT(origins({"in \"m\" : () -> () loc(\"a.plan\":3:4)", "in \"m\" : () -> () loc(\"a.plan\":3:4)",
                       "in \"n\" : () -> () loc(\"a.plan\":3:4)", "in \"m\" : () -> () loc(\"a.plan\":3:5)"}),
              ElementsAre("0: a.plan:3:4  | m", "0: a.plan:3:4  | m", "1: a.plan:3:4  | n", "2: a.plan:3:5  | m"));
  EXPECT_EQ(sources, 2u);
}

TEST_F(OriginTableTest, AStatementWithAnotherTextIsAnother) {
  EXPECT_THAT(origins({"{cause = \"colwise tp\"} : () -> () loc(\"a.plan\":3:4)",
                       "{cause = \"rowwise tp\"} : () -> () loc(\"a.plan\":3:4)"}),
              ElementsAre("0: a.plan:3:4 colwise tp | ", "1: a.plan:3:4 rowwise tp | "));
}

TEST_F(OriginTableTest, WithoutStepsThereIsNothing) {
  EXPECT_THAT(origins({}), IsEmpty());
  EXPECT_EQ(sources, 0u);
}

} // namespace
