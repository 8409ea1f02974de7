//===- stack_report_test.cpp - one parameter for the modules of a list ----===//

#include "compiler/report/diff/stack_report.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

using namespace meshplan;
using testing::ElementsAre;

namespace {

ParameterReport parameter(const std::string &name, const std::string &layout, std::vector<int64_t> shape = {8, 4}) {
  ParameterReport report;
  report.names = {name};
  report.dtype = "f32";
  report.layout = layout;
  report.globalBytes = 128;
  report.rankBytes = 64;
  report.trainable = name == "e.0.w";
  report.shape = std::move(shape);
  return report;
}

std::vector<std::string> namesOf(const Report &report) {
  std::vector<std::string> names;
  for (const ParameterReport &each : report.parameters)
    names.push_back(each.names.front());
  return names;
}

std::vector<std::string> textsOf(const Settings &settings) {
  std::vector<std::string> texts;
  for (const Setting &setting : settings.all)
    texts.push_back(setting.name + " " + setting.value + " of " + setting.of.second);
  return texts;
}

/// Two modules of a list with `w` and `b`, and a parameter beside it.
Report modules() {
  Report report;
  report.parameters = {parameter("g", "[8, 4]"), parameter("e.0.w", "[8 over tp, 4]"), parameter("e.0.b", "[]", {}),
                       parameter("e.1.w", "[8 over tp, 4]"), parameter("e.1.b", "[]", {})};
  report.settings.parameters = 5;
  return report;
}

} // namespace

TEST(StackReport, PartsAreOneParameter) {
  Report report = modules();
  stackReport(report, {"e", "w", 2});
  EXPECT_THAT(namesOf(report), ElementsAre("g", "e.w", "e.0.b", "e.1.b"));
  const ParameterReport &whole = report.parameters[1];
  EXPECT_EQ(whole.layout, "[2, 8 over tp, 4]");
  EXPECT_THAT(whole.shape, ElementsAre(2, 8, 4));
  EXPECT_EQ(whole.globalBytes, 256);
  EXPECT_EQ(whole.rankBytes, 128);
  EXPECT_TRUE(whole.trainable);
  EXPECT_EQ(report.settings.parameters, 4);
  stackReport(report, {"e", "b", 2});
  EXPECT_THAT(namesOf(report), ElementsAre("g", "e.w", "e.b"));
  EXPECT_EQ(report.parameters[2].layout, "[2]");
}

TEST(StackReport, LayoutsThatDifferAreListed) {
  Report report = modules();
  report.parameters[3].layout = "[8, 4]";
  stackReport(report, {"e", "w", 2});
  EXPECT_EQ(report.parameters[1].layout, "[2, 8 over tp, 4] and [2, 8, 4]");
}

TEST(StackReport, AReportWithoutAllPartsStays) {
  Report report = modules();
  for (const StackedParameter &stacked : {StackedParameter{"e", "w", 3}, {"e", "v", 2}, {"g", "w", 2}})
    stackReport(report, stacked);
  EXPECT_EQ(namesOf(report), namesOf(modules()));
  EXPECT_EQ(report.settings.parameters, 5);
}

TEST(StackReport, SettingsOfAllPartsAreThoseOfOne) {
  using Of = Setting::Of;
  Report report = modules();
  report.settings.all = {
      {"lr", "1", "", {Of::parameter, "e.0.w"}},     {"use", "trained", "", {Of::parameter, "e.0.w"}},
      {"lr", "1", "", {Of::parameter, "e.1.w"}},     {"use", "frozen", "", {Of::parameter, "e.1.w"}},
      {"betas", "2", "", {Of::parameter, "e.1.w"}},  {"recompute", "all", "", {Of::module, "e.0"}},
      {"recompute", "all", "", {Of::module, "e.1"}}, {"lr", "1", "", {Of::parameter, "g"}}};
  stackReport(report, {"e", "w", 2});
  EXPECT_THAT(textsOf(report.settings), ElementsAre("lr 1 of e.w", "use trained and frozen of e.w", "betas 2 of e.1.w",
                                                    "recompute all of e", "lr 1 of g"));
}
