//===- init_test.cpp - which entry draws which parameter ------------------===//

#include "test/unit/frontend/bind/training/training_plan.h"

using namespace meshplan;
using namespace meshplan::test;

namespace {

/// The distribution of a parameter of a Llama, as the plan writes it.
std::string textOf(const std::string &entries, const std::string &path, bool tied = false) {
  ModelOutline model = llama(2, tied);
  BoundPlan plan = bound("loss loss\noptimizer sgd\ninit { " + entries + " }", model);
  return plan.init ? plan.init->entries[plan.init->entryOf[parameterAt(model, path)]].text : "";
}

TEST(BindInit, APlanWithoutItDrawsNothing) { EXPECT_FALSE(bound("loss loss\noptimizer sgd").init); }

TEST(BindInit, EntriesNameParametersAndModules) {
  EXPECT_EQ(textOf("{model.layers.*.*_layernorm, model.norm} ones; rest zeros", "model.norm.weight"), "ones");
  EXPECT_EQ(textOf("model.layers.*.mlp normal 0.01; rest normal 0.02", "model.layers.1.mlp.up_proj.weight"),
            "normal 0.01");
  EXPECT_EQ(textOf("model.layers.*.mlp normal 0.01; rest normal 0.02", "lm_head.weight"), "normal 0.02");
}

TEST(BindInit, TheSmallerOfTwoOverrides) {
  std::string entries =
      "model.layers.** normal 0.02; override model.layers.*.mlp.down_proj.weight normal 0.01; rest ones";
  EXPECT_EQ(textOf(entries, "model.layers.0.mlp.down_proj.weight"), "normal 0.01");
  EXPECT_EQ(textOf(entries, "model.layers.0.mlp.up_proj.weight"), "normal 0.02");
  EXPECT_EQ(textOf(entries, "model.norm.weight"), "ones");
}

TEST(BindInit, ATiedParameterIsOne) {
  EXPECT_EQ(textOf("lm_head normal 0.01; rest zeros", "model.embed_tokens.weight", /*tied=*/true), "normal 0.01");
}

TEST(BindInit, FrozenParametersAreDrawnToo) {
  ModelOutline model = llama(1);
  model.parameters.back().requiresGrad = false;
  BoundPlan plan = bound("loss loss\noptimizer sgd\ninit { lm_head zeros; rest ones }", model);
  EXPECT_EQ(plan.init->entries[plan.init->entryOf.back()].text, "zeros");
}

} // namespace
