//===- numbers_test.cpp - numbers and schedules of other frameworks -------===//

#include "compiler/adopt/numbers.h"
#include <gtest/gtest.h>

using namespace meshplan;

TEST(NumberText, WritesWhatTheLanguageReads) {
  const std::pair<const char *, const char *> numbers[] = {
      {"1e-8", "1e-8"},  {"1.0e-5", "1e-5"},           {".1", "0.1"}, {"0.0003", "3e-4"}, {"64", "64"},
      {"1_000", "1000"}, {"4294967296", "4294967296"}, {"0", "0"}};
  for (const auto &[text, written] : numbers)
    EXPECT_EQ(planNumber(*parseNumber(text)), written);
  for (const char *text : {"", "x", "1x", "inf", "nan", "1e999"})
    EXPECT_FALSE(parseNumber(text)) << text;
}

TEST(ScheduleText, WritesTheOption) {
  std::string problem;
  EXPECT_EQ(scheduleText({"cosine", 10, 100, std::nullopt, 1e-5, 1e-6}, problem),
            "schedule cosine { warmup 10; steps 100; min 0.1 }");
  EXPECT_EQ(scheduleText({"linear", 0, 100, std::nullopt, 1e-5, 0}, problem), "schedule linear { steps 100 }");
  EXPECT_EQ(scheduleText({"WSD", 5, 100, 20, 1e-5, 0}, problem), "schedule wsd { warmup 5; steps 100; decay 20 }");
  EXPECT_EQ(scheduleText({"constant", 5, 100, std::nullopt, 1, 0}, problem), "schedule constant { warmup 5 }");
  EXPECT_EQ(scheduleText({"constant", 0, std::nullopt, std::nullopt, 1, 0}, problem), "");
  EXPECT_EQ(problem, "");
  EXPECT_EQ(scheduleText({"cosine", 10, std::nullopt, std::nullopt, 1, 0}, problem), "");
  EXPECT_EQ(problem, "a schedule needs the number of steps");
  EXPECT_EQ(scheduleText({"WSD", 0, 100, std::nullopt, 1, 0}, problem), "");
  EXPECT_EQ(problem, "a schedule needs the number of steps that decay takes");
  EXPECT_EQ(scheduleText({"inverse-square-root", 0, 100, std::nullopt, 1, 0}, problem), "");
  EXPECT_EQ(problem, "'inverse-square-root' is not a schedule of the language: use constant, linear, cosine or wsd");
}
