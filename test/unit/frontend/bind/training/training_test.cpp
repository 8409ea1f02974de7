//===- training_test.cpp - statements of training that are right ----------===//

#include "test/unit/frontend/models.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace meshplan;
using namespace meshplan::test;
using testing::ElementsAre;
using testing::IsEmpty;

namespace {

Outcome outcomeOf(const std::string &body) {
  return bindTo(llama(2), "plan p {\nmesh tp = 3\nrest: replicate\n" + body + "\n}\n");
}

BoundPlan bound(const std::string &body) {
  Outcome outcome = outcomeOf(body);
  EXPECT_EQ(outcome.text, "");
  return outcome.plan.value_or(BoundPlan());
}

TEST(BindTraining, WithoutStatementsNothingIsSaid) {
  BoundPlan plan = bound("");
  EXPECT_FALSE(plan.precision || plan.optimizer || plan.clipGradNorm);
  EXPECT_THAT(plan.recomputes, IsEmpty());
  EXPECT_THAT(plan.trainable, IsEmpty());
  EXPECT_THAT(plan.later, IsEmpty());
}

TEST(BindTraining, PrecisionNamesDtypes) {
  BoundPlan plan = bound("precision { compute bf16; storage f32; gather f16; reduce f64; master f32; state bf16 }");
  ASSERT_TRUE(plan.precision);
  EXPECT_EQ(plan.precision->compute, "bf16");
  EXPECT_EQ(plan.precision->storage, "f32");
  EXPECT_EQ(plan.precision->gather, "f16");
  EXPECT_EQ(plan.precision->reduce, "f64");
  EXPECT_EQ(plan.precision->master, "f32");
  EXPECT_EQ(plan.precision->state, "bf16");
  EXPECT_EQ(bound("precision { master f32 }").precision->compute, "") << "as the archive has it";
}

TEST(BindTraining, EveryOptimizerHasItsOptions) {
  struct {
    const char *text, *name;
    std::vector<std::pair<std::string, std::vector<double>>> options;
  } cases[] = {
      {"optimizer sgd", "sgd", {}},
      {"optimizer sgd { lr 0.1; momentum 0.9; dampening 0; weight_decay 1e-2 }",
       "sgd",
       {{"lr", {0.1}}, {"momentum", {0.9}}, {"dampening", {0}}, {"weight_decay", {0.01}}}},
      {"optimizer adam { betas (0.9, 0.95); eps 1e-8 }", "adam", {{"betas", {0.9, 0.95}}, {"eps", {1e-8}}}},
      {"optimizer adamw { lr -3e-4 }", "adamw", {{"lr", {-3e-4}}}},
  };
  for (auto &[text, name, options] : cases) {
    BoundPlan plan = bound(text);
    ASSERT_TRUE(plan.optimizer) << text;
    EXPECT_EQ(plan.optimizer->name, name);
    std::vector<std::pair<std::string, std::vector<double>>> read;
    for (const OptimizerOption &option : plan.optimizer->options)
      read.push_back({option.name, option.values});
    EXPECT_EQ(read, options) << text;
  }
}

TEST(BindTraining, GroupsHaveOptionsOfTheirOwn) {
  BoundPlan plan = bound("optimizer adamw { lr 1e-3; group **.*norm, lm_head { weight_decay 0; betas (0, 0.5) }\n"
                         "group [model.embed_tokens, model.norm] { lr 0 } }");
  ASSERT_TRUE(plan.optimizer);
  EXPECT_EQ(plan.optimizer->options.size(), 1u);
  ASSERT_EQ(plan.optimizer->groups.size(), 4u) << "one for each path";
  EXPECT_EQ(plan.optimizer->groups[0].paths.parameters.size(), 5u) << "two norms in each layer, and the last one";
  EXPECT_EQ(plan.optimizer->groups[1].paths.parameters.size(), 1u);
  EXPECT_EQ(plan.optimizer->groups[1].options.size(), 2u);
  EXPECT_EQ(plan.optimizer->groups[3].options.at(0).name, "lr");
}

TEST(BindTraining, AWrongOptionOfAGroupIsReportedOnce) {
  std::string text = outcomeOf("optimizer adamw { group lm_head, model.norm { lrate 0 } }").text;
  size_t first = text.find("error: 'group' has no option 'lrate'");
  ASSERT_NE(first, std::string::npos) << text;
  EXPECT_EQ(text.find("error:", first + 1), std::string::npos) << text;
}

TEST(BindTraining, RecomputeFreezeAndTheirPaths) {
  BoundPlan plan = bound("recompute model.layers.* keep attention, mlp\nrecompute lm_head\nfreeze model.embed_tokens\n"
                         "train only lm_head, model.norm\nunused model.layers.0.mlp.up_proj.weight");
  ASSERT_EQ(plan.recomputes.size(), 2u);
  EXPECT_THAT(plan.recomputes[0].keep, ElementsAre("attention", "mlp"));
  EXPECT_EQ(plan.recomputes[0].paths.size(), 1u);
  EXPECT_THAT(plan.recomputes[1].keep, IsEmpty());
  ASSERT_EQ(plan.trainable.size(), 3u);
  EXPECT_EQ(plan.trainable[0].kind, TrainableStatement::Kind::Freeze);
  EXPECT_EQ(plan.trainable[1].kind, TrainableStatement::Kind::TrainOnly);
  EXPECT_EQ(plan.trainable[1].paths.size(), 2u);
  EXPECT_EQ(plan.trainable[2].kind, TrainableStatement::Kind::Unused);
  EXPECT_EQ(plan.trainable[2].paths.at(0).parameters.size(), 1u) << "a parameter by its own name";
}

TEST(BindTraining, TheNormIsAPositiveNumber) {
  EXPECT_DOUBLE_EQ(bound("clip_grad_norm 0.5").clipGradNorm->norm, 0.5);
  for (const char *wrong : {"0", "-1", "1 MiB"})
    EXPECT_THAT(outcomeOf(std::string("clip_grad_norm ") + wrong).text,
                testing::HasSubstr("error: the norm is a number above 0"))
        << wrong;
}

/// What is wrong with a statement, and what helps.
std::vector<std::string> faults(const std::string &statement) {
  Sources sources;
  Diagnostics diagnostics(sources);
  std::optional<Syntax> syntax =
      parsePlan(sources.add("p.plan", "plan p {\nrest: replicate\n" + statement + "\n}\n"), diagnostics);
  if (syntax)
    bindPlan(*syntax, llama(2), {}, diagnostics);
  std::vector<std::string> result;
  for (const Diagnostic &diagnostic : diagnostics.all()) {
    result.push_back(diagnostic.message);
    result.insert(result.end(), diagnostic.helps.begin(), diagnostic.helps.end());
  }
  return result;
}

TEST(BindTraining, ADtypeIsOneKnownWord) {
  for (const char *option :
       {"master", "master 32", "master f32, f16", "master f32 f16", "master \"f32\"", "master f32 { }"}) {
    std::vector<std::string> said = faults("precision { " + std::string(option) + " }");
    ASSERT_EQ(said.size(), 2u) << option;
    EXPECT_EQ(said[1], "the form is 'master DTYPE'") << option;
  }
  EXPECT_THAT(faults("precision { reduce bf61 }"), ElementsAre("unknown dtype 'bf61'", "did you mean 'bf16'?"));
  EXPECT_THAT(faults("precision { reduce int8 }"),
              ElementsAre("unknown dtype 'int8'", "dtypes: 'f64', 'f32', 'bf16', 'f16'"));
}

TEST(BindTraining, NumbersOfAnOptimizerHaveForms) {
  struct {
    const char *option, *form;
  } cases[] = {
      {"lr", "lr NUMBER"},
      {"lr fast", "lr NUMBER"},
      {"lr 1, 2", "lr NUMBER"},
      {"lr 1 MiB", "lr NUMBER"},
      {"betas 0.9", "betas (NUMBER, NUMBER)"},
      {"betas 0.9, 0.95", "betas (NUMBER, NUMBER)"},
      {"betas (0.9)", "betas (NUMBER, NUMBER)"},
      {"betas (0.9, 0.95, 0.99)", "betas (NUMBER, NUMBER)"},
      {"betas (0.9, x)", "betas (NUMBER, NUMBER)"},
      {"betas (0.9, 90 %)", "betas (NUMBER, NUMBER)"},
      {"group lm_head", "group PATH { OPTIONS }"},
      {"group { lr 1 }", "group PATH { OPTIONS }"},
  };
  for (auto [option, form] : cases) {
    std::vector<std::string> said = faults("optimizer adamw { " + std::string(option) + " }");
    ASSERT_EQ(said.size(), 2u) << option;
    EXPECT_EQ(said[0], "cannot read '" + std::string(option).substr(0, std::string(option).find(" {")) + "'");
    EXPECT_EQ(said[1], "the form is '" + std::string(form) + "'");
  }
  EXPECT_THAT(faults("optimizer sgd { betas (0.9, 0.95) }").front(), "'sgd' has no option 'betas'");
}

TEST(BindTraining, ANormIsANumberAboveZero) {
  for (const char *norm : {"0", "-1", "0.0", "1 MiB", "50 %"})
    EXPECT_THAT(faults("clip_grad_norm " + std::string(norm)), ElementsAre("the norm is a number above 0")) << norm;
  EXPECT_THAT(faults("clip_grad_norm 1e-3"), IsEmpty());
}

} // namespace
