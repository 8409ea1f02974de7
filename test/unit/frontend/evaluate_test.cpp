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
