//===- bind_test.cpp - valid plans ----------------------------------------===//

#include "test/unit/frontend/models.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>

using namespace meshplan;
using namespace meshplan::test;
using testing::ElementsAre;

namespace {

BoundPlan bound(const ModelOutline &model, const std::string &body, std::vector<Definition> definitions = {}) {
  Outcome outcome = bindTo(model, "plan p {\n  mesh dp = 2, tp = 3\n" + body + "\n}\n", std::move(definitions));
  EXPECT_EQ(outcome.text, "");
  return outcome.plan.value_or(BoundPlan());
}

size_t moduleAt(const ModelOutline &model, const std::string &path) {
  auto found = std::find_if(model.modules.begin(), model.modules.end(),
                            [&](const OutlineModule &module) { return module.path == path; });
  return static_cast<size_t>(found - model.modules.begin());
}

/// The styles of a module as text; empty for a module without any.
std::string styleOf(const ModelOutline &model, const BoundPlan &plan, const std::string &path) {
  std::string result;
  for (const BoundModule &module : plan.modules)
    if (module.module == moduleAt(model, path))
      for (const BoundStyle &style : module.styles)
        result += (result.empty() ? "" : ", ") + style.text;
  return result;
}

TEST(Bind, DesignExample) {
  std::stringstream text;
  text << std::ifstream(MESHPLAN_PLAN_CORPUS "/smollm2.plan").rdbuf();
  ModelOutline model = llama(30, /*tied=*/true);
  Outcome outcome = bindTo(model, text.str(), {{"world", "6"}});
  ASSERT_TRUE(outcome.plan) << outcome.text;
  const BoundPlan &plan = *outcome.plan;
  EXPECT_EQ(plan.name, "smollm2");
  EXPECT_EQ(plan.modelFile, "smollm2.pt2");
  EXPECT_EQ(plan.coverage.parameterModules, 1 + 30 * 9 + 1 + 1u);
  EXPECT_EQ(plan.coverage.byEntries, plan.coverage.parameterModules);
  EXPECT_EQ(styleOf(model, plan, "model.layers.29.self_attn.v_proj"), "colwise tp");
  EXPECT_EQ(styleOf(model, plan, "model.layers.7.mlp.down_proj"), "rowwise tp");
  EXPECT_EQ(styleOf(model, plan, "model.layers.7.mlp"), "");
  EXPECT_EQ(plan.entries.at(2).path, "model.layers.*.self_attn.{q, k, v}_proj");
  EXPECT_EQ(plan.entries.at(2).modules.size(), 90u);
}

TEST(Bind, StyleDetails) {
  ModelOutline model = llama(1);
  BoundPlan plan = bound(model, "let k = 2\nmodel.norm: sequence tp dim k\n"
                                "lm_head: colwise (dp, tp) parts (heads 4 * k, kv 3), output [_, _, _ over tp]\n"
                                "model.embed_tokens: rowwise tp parts 3, input split 0 over dp, output 1 replicate\n"
                                "rest: replicate");
  for (const BoundModule &module : plan.modules) {
    std::string path = model.modules[module.module].path;
    if (path == "model.norm") {
      EXPECT_EQ(module.styles.at(0).kind, StyleKind::Sequence);
      EXPECT_EQ(module.styles[0].dim, 2);
      EXPECT_THAT(module.styles[0].axes, ElementsAre(1));
    } else if (path == "lm_head") {
      EXPECT_THAT(module.styles.at(0).axes, ElementsAre(0, 1));
      EXPECT_EQ(module.styles[0].parts.at(0).count, 8);
      EXPECT_EQ(module.styles[0].parts.at(1).name, "kv");
      EXPECT_EQ(module.borders.at(0).layout.rank, 3u);
      EXPECT_EQ(module.borders[0].layout.splits.at(0).dim, 2);
    } else if (path == "model.embed_tokens") {
      EXPECT_EQ(module.styles.at(0).parts.size(), 3u);
      ASSERT_EQ(module.borders.size(), 2u);
      EXPECT_TRUE(module.borders[0].isInput);
      EXPECT_EQ(module.borders[1].index, 1);
      EXPECT_TRUE(module.borders[1].layout.splits.empty());
    }
  }
}

TEST(Bind, StyleForOneAxisEach) {
  ModelOutline model = llama(1);
  BoundPlan plan = bound(model, "lm_head: colwise tp, rowwise dp\nrest: replicate");
  EXPECT_EQ(styleOf(model, plan, "lm_head"), "colwise tp, rowwise dp");
}

TEST(Bind, RestTakesWhatIsLeftOfItsBlock) {
  ModelOutline model = llama(2);
  BoundPlan plan = bound(model, "model.layers.* {\n mlp.{gate, up}_proj: colwise tp\n mlp { rest: sequence dp }\n"
                                " rest: sequence tp\n}\nrest: replicate");
  EXPECT_EQ(styleOf(model, plan, "model.layers.1.mlp.gate_proj"), "colwise tp");
  EXPECT_EQ(styleOf(model, plan, "model.layers.1.mlp.down_proj"), "sequence dp");
  EXPECT_EQ(styleOf(model, plan, "model.layers.1.self_attn.q_proj"), "sequence tp");
  EXPECT_EQ(styleOf(model, plan, "lm_head"), "replicate");
  EXPECT_EQ(styleOf(model, plan, "model.layers.1.mlp"), "");
  EXPECT_EQ(plan.coverage.byEntries, 4u);
  EXPECT_EQ(plan.coverage.byRest, plan.coverage.parameterModules - 4);
  EXPECT_EQ(plan.entries.at(1).modules.size(), 2u);
}

TEST(Bind, BlockMayBeAListOfModules) {
  ModelOutline model = llama(2);
  BoundPlan plan = bound(model, "model.layers {\n 1.mlp.down_proj: rowwise tp\n 0 { mlp.down_proj: sequence tp }\n}\n"
                                "rest: replicate");
  EXPECT_EQ(styleOf(model, plan, "model.layers.1.mlp.down_proj"), "rowwise tp");
  EXPECT_EQ(styleOf(model, plan, "model.layers.0.mlp.down_proj"), "sequence tp");
}

TEST(Bind, OverrideIsAStrictSubset) {
  ModelOutline model = llama(4);
  BoundPlan plan = bound(model, "**: replicate\noverride model.layers.*.mlp.*_proj: sequence tp\n"
                                "override model.layers.{1..2}.mlp.*_proj: sequence dp");
  EXPECT_EQ(styleOf(model, plan, "model.layers.0.mlp.up_proj"), "sequence tp");
  EXPECT_EQ(styleOf(model, plan, "model.layers.1.mlp.up_proj"), "sequence dp");
  EXPECT_EQ(styleOf(model, plan, "model.layers.1.self_attn.q_proj"), "replicate");
  EXPECT_EQ(styleOf(model, plan, ""), "replicate");
}

TEST(Bind, OverrideOfOneParameterKeepsTheStyle) {
  ModelOutline model = llama(2);
  BoundPlan plan = bound(model, "model.layers.*.mlp.down_proj: rowwise tp\nrest: replicate\n"
                                "override model.layers.0.mlp.down_proj: parameter { weight: split 1 over (dp, tp) }");
  EXPECT_EQ(styleOf(model, plan, "model.layers.0.mlp.down_proj"), "rowwise tp");
  ASSERT_EQ(plan.parameters.size(), 1u);
  EXPECT_EQ(parameterPath(model, model.parameters[plan.parameters[0].parameter]),
            "model.layers.0.mlp.down_proj.weight");
  EXPECT_EQ(plan.parameters[0].layout.splits.at(0).dim, 1);
  EXPECT_THAT(plan.parameters[0].layout.splits[0].axes, ElementsAre(0, 1));
}

TEST(Bind, BorderAndStyleMayBeTwoEntries) {
  ModelOutline model = llama(1);
  BoundPlan plan = bound(model, "lm_head: colwise tp\nlm_head: output replicate\nmodel.layers.*: output replicate\n"
                                "rest: replicate");
  EXPECT_EQ(styleOf(model, plan, "lm_head"), "colwise tp");
  EXPECT_EQ(styleOf(model, plan, "model.layers.0"), "");
  size_t borders = 0;
  for (const BoundModule &module : plan.modules)
    borders += module.borders.size();
  EXPECT_EQ(borders, 2u);
}

TEST(Bind, SplittingStylesSkipModulesWithoutParameters) {
  BoundPlan plan = bound(llama(2), "model.layers.*.mlp.*: colwise tp\nrest: replicate");
  EXPECT_EQ(plan.entries.at(0).modules.size(), 6u);
}

TEST(Bind, TiedParameterNeedsOneEntry) {
  ModelOutline model = llama(1, /*tied=*/true);
  BoundPlan plan = bound(model, "model.embed_tokens: rowwise tp\nmodel.layers.**: replicate\nmodel.norm: replicate");
  EXPECT_EQ(styleOf(model, plan, "lm_head"), "");
  plan = bound(model, "lm_head: colwise tp\nrest: replicate");
  EXPECT_EQ(styleOf(model, plan, "model.embed_tokens"), "");
  EXPECT_EQ(plan.coverage.byRest, plan.coverage.parameterModules - 2);
}

TEST(Bind, NumberedModules) {
  ModelOutline model;
  model.modules = {{"", "Sequential"}, {"0", "Linear"}, {"1", "Sequential"}, {"1.0", "Linear"}};
  model.parameters = {{{{1, "weight"}}, {{1, {}}}, {4, 4}, true}, {{{3, "weight"}}, {{3, {}}}, {4, 4}, true}};
  BoundPlan plan = bound(model, "0: colwise tp\n1.0: rowwise tp");
  EXPECT_EQ(styleOf(model, plan, "0"), "colwise tp");
  EXPECT_EQ(styleOf(model, plan, "1.0"), "rowwise tp");
}

} // namespace
