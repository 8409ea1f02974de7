//===- evaluate_test.cpp - sizes and values -------------------------------===//

#include "test/unit/frontend/models.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace meshplan;
using namespace meshplan::test;

namespace {

/// The sizes of the axes, outermost first; empty if the plan is invalid.
std::vector<int64_t> sizes(const std::string &body, std::vector<Definition> definitions = {}) {
  Sources sources;
  Diagnostics diagnostics(sources);
  std::optional<Syntax> syntax = parsePlan(sources.add("p.plan", "plan p {\n" + body + "\n}"), diagnostics);
  std::vector<int64_t> result;
  std::optional<Environment> environment = evaluatePlan(*syntax, definitions, diagnostics);
  EXPECT_EQ(diagnostics.text(), "");
  if (environment)
    for (const MeshAxis &axis : environment->mesh.axes)
      result.push_back(axis.size);
  return result;
}

using testing::ElementsAre;

TEST(Evaluate, Arithmetic) {
  EXPECT_THAT(sizes("mesh a = 2 + 3 * 4, b = (2 + 3) * 4, c = 20 - 4 - 3, d = 24 / 4 / 2, e = -2 * -3, f = 2*3"),
              ElementsAre(14, 20, 13, 3, 6, 6));
}

TEST(Evaluate, NamesInAnyOrder) {
  EXPECT_THAT(sizes("mesh dp = world / tp, tp = half + 1\nlet half = other / 2\nlet other = 4", {{"world", "6"}}),
              ElementsAre(2, 3));
}

TEST(Evaluate, CommandLineWins) {
  EXPECT_THAT(sizes("mesh dp = world / tp, tp = 3", {{"world", "8"}, {"tp", "2"}}), ElementsAre(4, 2));
  EXPECT_THAT(sizes("let n = 7\nmesh dp = n", {{"n", "5"}}), ElementsAre(5));
  EXPECT_THAT(sizes("mesh dp = 8 / 3", {{"dp", "5"}}), ElementsAre(5));
  EXPECT_THAT(sizes("mesh dp = 5", {{"world", "5"}, {"world", "5"}}), ElementsAre(5));
}

/// The digits of each name of the folds: `edp 4 = dp:(1)4`.
std::vector<std::string> folded(const std::string &body, std::vector<Definition> definitions = {}) {
  Sources sources;
  Diagnostics diagnostics(sources);
  std::optional<Syntax> syntax = parsePlan(sources.add("p.plan", "plan p {\n" + body + "\n}"), diagnostics);
  std::optional<Environment> environment = evaluatePlan(*syntax, definitions, diagnostics);
  EXPECT_EQ(diagnostics.text(), "");
  std::vector<std::string> result;
  if (!environment)
    return result;
  for (const FoldedName &name : environment->mesh.folded) {
    EXPECT_EQ(environment->values.lookup(name.name), name.size);
    std::string text = name.name + " " + std::to_string(name.size) + " =";
    for (const AxisRef &digit : name.digits)
      text += " " + environment->mesh.axes[digit.axis].name + ":(" + std::to_string(digit.pre) + ")" +
              std::to_string(digit.size);
    result.push_back(text);
  }
  return result;
}

TEST(Evaluate, TheNamesOfAFoldAreDigits) {
  EXPECT_THAT(folded("mesh dp = 8, tp = 4\nfold (dp, tp) as (edp = 4, ep = 8)"),
              ElementsAre("edp 4 = dp:(1)4", "ep 8 = dp:(4)2 tp:(1)4"));
  EXPECT_THAT(folded("mesh dp = 8, tp = 4\nfold (tp, dp) as (edp = 4, ep = 8)"),
              ElementsAre("edp 4 = tp:(1)4", "ep 8 = dp:(1)8"));
  EXPECT_THAT(folded("mesh dp = 8, cp = 3, tp = 4\nfold (dp, tp) as (a = 2, b = 2, c = 2 * 2, d = 2)"),
              ElementsAre("a 2 = dp:(1)2", "b 2 = dp:(2)2", "c 4 = dp:(4)2 tp:(1)2", "d 2 = tp:(2)2"));
  EXPECT_THAT(folded("mesh dp = 2, cp = 3, tp = 4\nfold (dp, cp, tp) as (a = 12, b = 2)"),
              ElementsAre("a 12 = dp:(1)2 cp:(1)3 tp:(1)2", "b 2 = tp:(2)2"));
}

TEST(Evaluate, ANameOfSizeOneHasNoDigits) {
  EXPECT_THAT(folded("mesh dp = 4, one = 1\nfold (one, dp) as (a = 1, edp = 1, ep = 4, b = 1)"),
              ElementsAre("a 1 =", "edp 1 =", "ep 4 = dp:(1)4", "b 1 ="));
  EXPECT_THAT(folded("mesh one = 1\nfold (one) as (a = 1)"), ElementsAre("a 1 ="));
}

TEST(Evaluate, SizesOfAFoldAreExpressions) {
  EXPECT_THAT(folded("fold (dp) as (edp = dp / ep, ep = n)\nlet n = 2\nmesh dp = world", {{"world", "8"}}),
              ElementsAre("edp 4 = dp:(1)4", "ep 2 = dp:(4)2"));
  EXPECT_THAT(folded("mesh dp = 8\nfold (dp) as (edp = dp / ep, ep = 2)", {{"ep", "4"}}),
              ElementsAre("edp 2 = dp:(1)2", "ep 4 = dp:(2)4"));
  EXPECT_THAT(sizes("mesh dp = 2 * ep\nfold (dp) as (edp = 2, ep = 3)"), ElementsAre(6));
}

TEST(Evaluate, AnAxisMayBeFoldedTwice) {
  EXPECT_THAT(folded("mesh dp = 12\nfold (dp) as (a = 2, b = 6)\nfold (dp) as (c = 4, d = 3)"),
              ElementsAre("a 2 = dp:(1)2", "b 6 = dp:(2)6", "c 4 = dp:(1)4", "d 3 = dp:(4)3"));
}

TEST(Evaluate, WithoutAMeshThereIsOneRank) {
  Outcome outcome = bindTo(llama(1), "plan p { rest: replicate }", {{"world", "1"}});
  ASSERT_TRUE(outcome.plan) << outcome.text;
  EXPECT_EQ(outcome.plan->environment.mesh.worldSize(), 1);
  EXPECT_EQ(outcome.plan->environment.values.lookup("world"), 1);
}

TEST(Evaluate, WorldIsTheProduct) {
  Outcome outcome = bindTo(llama(1), "plan p {\n mesh a = 2, b = 3\n rest: replicate\n}");
  ASSERT_TRUE(outcome.plan) << outcome.text;
  EXPECT_EQ(outcome.plan->environment.mesh.worldSize(), 6);
  EXPECT_EQ(outcome.plan->environment.values.lookup("world"), 6);
  EXPECT_EQ(outcome.plan->environment.mesh.find("b"), 1u);
  EXPECT_EQ(outcome.plan->environment.mesh.find("c"), std::nullopt);
}

} // namespace
