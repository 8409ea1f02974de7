//===- setting_diff_test.cpp - settings of two plans ----------------------===//

#include "compiler/report/diff/report_diff.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

using namespace meshplan;
using testing::ElementsAre;
using testing::IsEmpty;

namespace {

Setting ofParameter(const std::string &parameter, const std::string &name, const std::string &value,
                    const std::string &place = "", const std::string &container = "use") {
  return {name, value, place, {Setting::Of::parameter, parameter}, container};
}

/// "lr of a, b: 0.1 at a.plan:3 -> 0.2 at -"
std::vector<std::string> compared(std::vector<Setting> before, std::vector<Setting> after) {
  std::vector<std::string> texts;
  for (const SettingChange &change : compareSettings({std::move(before), 2}, {std::move(after), 2})) {
    std::string text = change.name;
    const char *separator = " of ";
    for (const std::string &subject : change.subjects)
      text += std::exchange(separator, ", ") + subject;
    texts.push_back(text + ": " + change.value.before + " at " + change.location.before + " -> " + change.value.after +
                    " at " + change.location.after);
  }
  return texts;
}

} // namespace

TEST(CompareSettings, EqualOnesDoNotDifferWhereverTheyStand) {
  EXPECT_THAT(compared({{"loss", "loss", "a.plan:3"}}, {{"loss", "loss", "b.plan:9"}}), IsEmpty());
}

TEST(CompareSettings, BothSidesWithTheirPlaces) {
  EXPECT_THAT(compared({{"clip_grad_norm", "1", "a.plan:3"}, {"microbatches", "1", ""}},
                       {{"microbatches", "2", "b.plan:4"}, {"clip_grad_norm", "none", ""}}),
              ElementsAre("clip_grad_norm: 1 at a.plan:3 -> none at ", "microbatches: 1 at  -> 2 at b.plan:4"));
}

TEST(CompareSettings, ParametersThatDifferAlikeAreOne) {
  std::vector<Setting> before, after;
  for (const char *name : {"a", "b", "c"}) {
    before.push_back(ofParameter(name, "lr", "0.1", "a.plan:3"));
    after.push_back(ofParameter(name, "lr", *name == 'c' ? "0.3" : "0.2", "b.plan:3"));
  }
  EXPECT_THAT(compared(before, after), ElementsAre("lr of a, b: 0.1 at a.plan:3 -> 0.2 at b.plan:3",
                                                   "lr of c: 0.1 at a.plan:3 -> 0.3 at b.plan:3"));
}

TEST(CompareSettings, WhatOneOfThemDoesNotState) {
  EXPECT_THAT(compared({{"precision compute", "bf16", "a.plan:3"}}, {{"init", "stated", "b.plan:3"}}),
              ElementsAre("precision compute: bf16 at a.plan:3 ->  at ", "init:  at  -> stated at b.plan:3"));
}

TEST(CompareSettings, WhatComesWithADifferenceIsPartOfIt) {
  std::vector<Setting> frozen{{"optimizer", "sgd", ""}, ofParameter("a", "use", "frozen", "a.plan:3", "optimizer")};
  std::vector<Setting> trained{{"optimizer", "sgd", ""},
                               ofParameter("a", "use", "trained", "", "optimizer"),
                               ofParameter("a", "lr", "0.1", "b.plan:3")};
  EXPECT_THAT(compared(frozen, trained), ElementsAre("use of a: frozen at a.plan:3 -> trained at "));
  EXPECT_THAT(compared(trained, {}), ElementsAre("optimizer: sgd at  ->  at "));
  EXPECT_THAT(compared({}, trained), ElementsAre("optimizer:  at  -> sgd at "));
}

TEST(CompareSettings, WhatOnlyOneKindOfOptimizerTakes) {
  auto trained = [](const std::string &kind, const Setting &number) {
    return std::vector<Setting>{{"optimizer", kind, ""}, ofParameter("a", "use", "trained", "", "optimizer"), number};
  };
  EXPECT_THAT(
      compared(trained("sgd", ofParameter("a", "momentum", "0.9")), trained("adam", ofParameter("a", "eps", "1e-08"))),
      ElementsAre("optimizer: sgd at  -> adam at ", "momentum of a: 0.9 at  ->  at ", "eps of a:  at  -> 1e-08 at "));
}
