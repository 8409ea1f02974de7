//===- schedule_test.cpp - schedules of lr --------------------------------===//

#include "test/unit/frontend/bind/training/training_plan.h"

using namespace meshplan;
using namespace meshplan::test;
using testing::ElementsAre;

namespace {

LrSchedule oneSchedule(const std::string &schedule) {
  BoundPlan plan = bound("loss loss\noptimizer adamw { schedule " + schedule + " }");
  EXPECT_TRUE(plan.optimizer && plan.optimizer->schedule) << schedule;
  return plan.optimizer && plan.optimizer->schedule ? *plan.optimizer->schedule : LrSchedule();
}

std::vector<std::string> saidOfSchedule(const std::string &schedule) {
  return faults("loss loss\noptimizer adamw { schedule " + schedule + " }");
}

TEST(BindSchedule, EveryOptionIsRead) {
  LrSchedule schedule = oneSchedule("wsd { warmup 100; steps 1000; decay 200; min 0.1 }");
  EXPECT_EQ(schedule.kind, LrScheduleKind::Wsd);
  EXPECT_EQ(schedule.warmup, 100);
  EXPECT_EQ(schedule.steps, 1000);
  EXPECT_EQ(schedule.decay, 200);
  EXPECT_EQ(schedule.min, 0.1);
  EXPECT_TRUE(schedule.range.hasLine());
}

TEST(BindSchedule, KindsAndWhatTheyNeed) {
  EXPECT_EQ(oneSchedule("constant { }").kind, LrScheduleKind::Constant);
  EXPECT_EQ(oneSchedule("constant { warmup 3 }").warmup, 3);
  EXPECT_EQ(oneSchedule("linear { steps 10 }").kind, LrScheduleKind::Linear);
  LrSchedule cosine = oneSchedule("cosine { steps 10 }");
  EXPECT_EQ(cosine.kind, LrScheduleKind::Cosine);
  EXPECT_EQ(cosine.warmup, 0);
  EXPECT_EQ(cosine.decay, 0);
  EXPECT_EQ(cosine.min, 0);
}

TEST(BindSchedule, StepsMayBeValuesOfThePlan) { EXPECT_EQ(oneSchedule("linear { steps n; warmup dp }").steps, 4); }

TEST(BindSchedule, WarmupAndDecayMayTakeTheWholeTraining) {
  EXPECT_EQ(oneSchedule("linear { steps 10; warmup 10; min 1 }").warmup, 10);
  EXPECT_EQ(oneSchedule("wsd { steps 10; decay 10 }").decay, 10);
  EXPECT_EQ(oneSchedule("wsd { steps 10; decay 4; warmup 6 }").decay, 4);
  EXPECT_THAT(saidOfSchedule("linear { steps 10; warmup 11 }").front(), "warmup 11 takes more than steps 10");
  EXPECT_THAT(saidOfSchedule("wsd { steps 10; decay 5; warmup 6 }").front(),
              "warmup 6 and decay 5 take more than steps 10");
  EXPECT_THAT(saidOfSchedule("wsd { steps 10; decay 9223372036854775807; warmup 9223372036854775807 }").size(), 2u);
}

TEST(BindSchedule, EachKindHasItsOptions) {
  EXPECT_THAT(saidOfSchedule("constant { decay 3 }").front(), "'schedule constant' has no option 'decay'");
  EXPECT_THAT(saidOfSchedule("constant { min 0 }").front(), "'schedule constant' has no option 'min'");
  EXPECT_THAT(saidOfSchedule("linear { steps 3; decay 3 }").front(), "'schedule linear' has no option 'decay'");
  EXPECT_THAT(saidOfSchedule("linear { }").front(), "'schedule linear' needs 'steps'");
  EXPECT_THAT(saidOfSchedule("wsd { steps 3 }").front(), "'schedule wsd' needs 'decay'");
  EXPECT_EQ(saidOfSchedule("wsd { }").size(), 4u);
}

TEST(BindSchedule, NumbersHaveRanges) {
  EXPECT_THAT(saidOfSchedule("constant { warmup -1 }"), ElementsAre("warmup is at least 0, and this is -1"));
  EXPECT_THAT(saidOfSchedule("linear { steps 0 }"), ElementsAre("steps is at least 1, and this is 0"));
  EXPECT_THAT(saidOfSchedule("wsd { steps 5; decay 0 }"), ElementsAre("decay is at least 1, and this is 0"));
  for (const char *min : {"-0.1", "1.1", "1e400", "-1e400"})
    EXPECT_EQ(saidOfSchedule(std::string("linear { steps 1; min ") + min + " }").size(), 2u) << min;
  EXPECT_EQ(oneSchedule("linear { steps 1; min 1 }").min, 1);
}

TEST(BindSchedule, OptionsHaveForms) {
  struct {
    const char *option, *form;
  } cases[] = {
      {"warmup", "warmup STEPS"},     {"warmup 0.5", "warmup STEPS"}, {"warmup few", "warmup STEPS"},
      {"warmup 1 2", "warmup STEPS"}, {"steps 1 s", "steps STEPS"},   {"steps 1e3", "steps STEPS"},
      {"steps 1, 2", "steps STEPS"},  {"min", "min NUMBER"},          {"min low", "min NUMBER"},
      {"min 10 %", "min NUMBER"},
  };
  for (auto [option, form] : cases)
    EXPECT_THAT(saidOfSchedule("cosine { " + std::string(option) + " }"),
                ElementsAre("cannot read '" + std::string(option) + "'", "the form is '" + std::string(form) + "'"));
}

} // namespace
