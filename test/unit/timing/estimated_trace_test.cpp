#include "compiler/timing/estimated_trace.h"
#include "test/unit/timing/times.h"
#include "llvm/Support/JSON.h"

#include <gmock/gmock.h>

using namespace meshplan;
using namespace meshplan::test;

namespace {

std::vector<std::string> eventsOf(const std::string &text) {
  llvm::Expected<llvm::json::Value> trace = llvm::json::parse(text);
  EXPECT_TRUE(static_cast<bool>(trace));
  EXPECT_EQ(*trace->getAsObject()->getObject("otherData")->getString("times"), "estimated");
  EXPECT_EQ(*trace->getAsObject()->getObject("otherData")->getString("machine"), "own");
  std::vector<std::string> events;
  for (const llvm::json::Value &each : *trace->getAsObject()->getArray("traceEvents")) {
    const llvm::json::Object &event = *each.getAsObject();
    if (*event.getString("ph") != "X")
      continue;
    std::string time = std::to_string(std::llround(1000 * *event.getNumber("ts"))) + "+" +
                       std::to_string(std::llround(1000 * *event.getNumber("dur")));
    events.push_back(time + " " + std::to_string(*event.getInteger("tid")) + " " + event.getString("name")->str());
  }
  return events;
}

} // namespace

TEST(EstimatedTraceTest, HasOperatorsCollectivesAndWaits) {
  std::vector<ProgramTimes> programs = {exampleTimes()[1]};
  programs.front().timeline.clear();
  EXPECT_THAT(eventsOf(estimatedTrace(*stepTimes(programs, "step"), "own")),
              testing::ElementsAre(
                  "0+300 0 aten.mm.default in model.layers.0.mlp", "0+500 1 all_gather over dp in model.layers.0",
                  "300+200 0 wait for all_gather over dp in model.layers.0", "500+0 0 aten.view.default",
                  "500+300 0 aten.relu.default", "300+400 2 all_gather over dp.tp in model.layers.0"));
}

TEST(EstimatedTraceTest, MicrobatchesFollowOneAnother) {
  std::vector<ProgramTimes> programs = exampleTimes();
  std::vector<std::string> events = eventsOf(estimatedTrace(*stepTimes(programs, "step"), "own"));
  ASSERT_EQ(events.size(), 16u);
  EXPECT_EQ(events[5], "1000+300 0 aten.mm.default in model.layers.0.mlp");
  EXPECT_EQ(events[12], "2300+200 0 wait for all_gather over dp in model.layers.0");
}
