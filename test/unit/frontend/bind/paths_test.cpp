//===- paths_test.cpp - modules and parameters that a path names ----------===//

#include "test/unit/frontend/models.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace meshplan;
using namespace meshplan::test;
using testing::ElementsAre;

namespace {

/// The modules and the parameters that `freeze PATH` names, by their paths.
struct Named {
  std::vector<std::string> modules, parameters;
};

Named named(const ModelOutline &model, const std::string &path) {
  Outcome outcome = bindTo(model, "plan p {\nmesh tp = 3\nrest: replicate\nfreeze " + path + "\n}\n");
  EXPECT_EQ(outcome.text, "");
  Named result;
  if (!outcome.plan)
    return result;
  const BoundPaths &paths = outcome.plan->trainable.at(0).paths.at(0);
  for (size_t module : paths.modules)
    result.modules.push_back(model.modules[module].path);
  for (size_t parameter : paths.parameters)
    result.parameters.push_back(parameterPath(model, model.parameters[parameter]));
  return result;
}

TEST(BindPaths, AModuleNamesWhatLiesBelowIt) {
  ModelOutline model = llama(2);
  Named found = named(model, "model.layers.1.mlp");
  EXPECT_THAT(found.modules, ElementsAre("model.layers.1.mlp"));
  EXPECT_THAT(found.parameters, ElementsAre("model.layers.1.mlp.gate_proj.weight", "model.layers.1.mlp.up_proj.weight",
                                            "model.layers.1.mlp.down_proj.weight"));
}

TEST(BindPaths, AParameterIsNamedByItself) {
  Named found = named(llama(2), "model.layers.0.mlp.up_proj.weight");
  EXPECT_TRUE(found.modules.empty());
  EXPECT_THAT(found.parameters, ElementsAre("model.layers.0.mlp.up_proj.weight"));
}

TEST(BindPaths, PatternsNameAllThatTheyMatch) {
  ModelOutline model = llama(2);
  EXPECT_THAT(named(model, "model.layers.*.input_layernorm").parameters,
              ElementsAre("model.layers.0.input_layernorm.weight", "model.layers.1.input_layernorm.weight"));
  EXPECT_THAT(named(model, "{lm_head, model.norm}").parameters, ElementsAre("model.norm.weight", "lm_head.weight"));
  EXPECT_EQ(named(model, "**").parameters.size(), model.parameters.size());
  EXPECT_EQ(named(model, "**.weight").parameters.size(), model.parameters.size());
  EXPECT_EQ(named(model, "model").parameters.size(), model.parameters.size() - 1) << "all but lm_head";
}

TEST(BindPaths, AListOfModulesThatNeverRanMayBeNamed) {
  // The outline has no module `model.layers`, but it has modules below that path.
  Named found = named(llama(2), "model.layers");
  EXPECT_TRUE(found.modules.empty());
  EXPECT_EQ(found.parameters.size(), 18u);
}

TEST(BindPaths, ATiedParameterAnswersToEachOfItsNames) {
  ModelOutline model = llama(1, /*tied=*/true);
  for (const char *path : {"lm_head", "model.embed_tokens", "lm_head.weight", "model.embed_tokens.weight",
                           "{lm_head, model.embed_tokens}"})
    EXPECT_THAT(named(model, path).parameters, ElementsAre("model.embed_tokens.weight")) << path;
}

TEST(BindPaths, OverlappingPatternsNameAParameterOnce) {
  EXPECT_EQ(named(llama(1), "{model.**, model.norm, **.weight}").parameters.size(), 12u);
}

TEST(BindPaths, AQuotedPathIsTakenLiterally) {
  ModelOutline model = llama(1);
  EXPECT_THAT(named(model, "\"model.norm\"").parameters, ElementsAre("model.norm.weight"));
  Outcome outcome = bindTo(model, "plan p {\nmesh tp = 3\nrest: replicate\nfreeze \"model.*\"\n}\n");
  EXPECT_THAT(outcome.text, testing::HasSubstr("'model.*' matches no module and no parameter"));
}

TEST(BindPaths, EveryAlternativeMatchesSomething) {
  Outcome outcome = bindTo(llama(1), "plan p {\nmesh tp = 3\nrest: replicate\nfreeze {lm_head, lm_haed}\n}\n");
  EXPECT_THAT(outcome.text, testing::HasSubstr("error: 'lm_haed' matches no module and no parameter"));
  EXPECT_THAT(outcome.text, testing::HasSubstr("help: did you mean 'lm_head'?"));
}

/// The diagnostics for `freeze PATH`.
std::string saidOfPath(const std::string &path) {
  return bindTo(llama(1), "plan p {\nmesh tp = 3\nrest: replicate\nfreeze " + path + "\n}\n").text;
}

TEST(BindPaths, ModulesWithoutParametersNameNone) {
  EXPECT_THAT(saidOfPath("model.rotary_emb"), testing::HasSubstr("error: 'model.rotary_emb' holds no parameter"));
  EXPECT_THAT(saidOfPath("{lm_head, **.act_fn}"), testing::HasSubstr("error: '**.act_fn' holds no parameter"));
  EXPECT_THAT(saidOfPath("model.{norm, rotary_emb}"),
              testing::HasSubstr("error: 'model.rotary_emb' holds no parameter"));
}

TEST(BindPaths, TheNearestParameterIsNamed) {
  EXPECT_THAT(saidOfPath("model.norm.wieght"), testing::HasSubstr("help: did you mean 'model.norm.weight'?"));
  EXPECT_THAT(saidOfPath("**.wieght"), testing::HasSubstr("help: did you mean '**.weight'?"));
  EXPECT_THAT(saidOfPath("model.norm.bias"), testing::HasSubstr("help: below 'model.norm': 'weight'"));
  EXPECT_THAT(saidOfPath("**.bias"), testing::HasSubstr("help: parameters are called: 'weight'"));
}

} // namespace
