//===- describe_settings_test.cpp - settings of a step --------------------===//

#include "compiler/report/settings/describe_settings.h"
#include "test/unit/frontend/bind/training/training_plan.h"

using namespace meshplan;
using namespace meshplan::test;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

namespace {

/// Each setting as "lr of lm_head.weight: 0.1 at p.plan:7:5".
std::vector<std::string> described(const std::string &body) {
  ModelOutline model = llama(1);
  Sources sources;
  Diagnostics diagnostics(sources);
  std::optional<Syntax> syntax = parsePlan(sources.add("p.plan", trainingPlan(body)), diagnostics);
  std::optional<BoundPlan> plan = syntax ? bindPlan(*syntax, model, {}, diagnostics) : std::nullopt;
  EXPECT_EQ(diagnostics.text(), "") << body;
  if (!plan)
    return {};
  std::vector<std::string> texts;
  for (const Setting &setting : describeSettings(*plan, model, sources).all)
    texts.push_back(setting.name + (setting.of.second.empty() ? "" : " of " + setting.of.second) + ": " +
                    setting.value + (setting.location.empty() ? "" : " at " + setting.location));
  return texts;
}

/// Only settings whose text starts with `begin`.
std::vector<std::string> described(const std::string &body, const std::string &begin) {
  std::vector<std::string> texts = described(body), found;
  std::copy_if(texts.begin(), texts.end(), std::back_inserter(found),
               [&](const std::string &text) { return text.starts_with(begin); });
  return found;
}

} // namespace

TEST(DescribeSettings, OfAPlanThatDoesNotTrain) {
  EXPECT_THAT(described("input input_ids: [batch over dp, seq]"),
              ElementsAre("input input_ids: [batch = 4 over dp, seq = 8] at p.plan:5:7", "input labels: [4, 8]",
                          "microbatches: 1"));
}

TEST(DescribeSettings, LossAndMicrobatches) {
  const std::string input = "input input_ids, labels: [batch = 8, seq]\n";
  EXPECT_THAT(described(input + "loss loss\nmicrobatches 2 mean", "microbatches"),
              ElementsAre("microbatches: 2 mean at p.plan:7:1"));
  EXPECT_THAT(described("input input_ids, labels: [batch, seq]\nloss loss per token", "loss"),
              ElementsAre("loss: loss per token at p.plan:6:1"));
}

TEST(DescribeSettings, WhatAnOptimizerDoesUnlessThePlanSaysOtherwise) {
  std::vector<std::string> texts = described("loss loss\noptimizer adamw { }");
  EXPECT_THAT(texts, Contains("optimizer: adamw at p.plan:6:1"));
  EXPECT_THAT(texts, Contains("schedule: constant"));
  EXPECT_THAT(texts, Contains("clip_grad_norm: none"));
  EXPECT_THAT(texts, Contains("nonfinite gradients: not looked for"));
  EXPECT_THAT(texts, Contains("use of lm_head.weight: trained"));
  EXPECT_THAT(texts, Contains("lr of lm_head.weight: 0.001"));
  EXPECT_THAT(texts, Contains("weight_decay of lm_head.weight: 0.01"));
  EXPECT_THAT(texts, Contains("betas of lm_head.weight: (0.9, 0.999)"));
  EXPECT_THAT(texts, Contains("eps of lm_head.weight: 1e-08"));
  EXPECT_THAT(texts, Not(Contains(StartsWith("momentum"))));
}

TEST(DescribeSettings, NumbersOfGroupsWithTheirPlaces) {
  const std::string body =
      "loss loss\noptimizer sgd {\nlr 0.1\nmomentum 0.9\nnesterov\ngroup lm_head { lr 0.12345678 }\n}";
  EXPECT_THAT(described(body, "lr of lm_head"), ElementsAre("lr of lm_head.weight: 0.12345678 at p.plan:10:20"));
  EXPECT_THAT(described(body, "lr of model.norm"), ElementsAre("lr of model.norm.weight: 0.1 at p.plan:7:4"));
  EXPECT_THAT(described(body, "momentum of lm_head"), ElementsAre("momentum of lm_head.weight: 0.9 at p.plan:8:10"));
  EXPECT_THAT(described(body, "nesterov of lm_head"), ElementsAre("nesterov of lm_head.weight: true at p.plan:9:1"));
  EXPECT_THAT(described(body, "dampening of lm_head"), ElementsAre("dampening of lm_head.weight: 0"));
}

TEST(DescribeSettings, WhatIsNotTrainedHasNoNumbers) {
  const std::string body = "loss loss\noptimizer sgd { lr 0.1 }\nfreeze lm_head\nunused model.norm";
  EXPECT_THAT(described(body, "use of lm_head"), ElementsAre("use of lm_head.weight: frozen at p.plan:7:8"));
  EXPECT_THAT(described(body, "use of model.norm"), ElementsAre("use of model.norm.weight: unused at p.plan:8:8"));
  EXPECT_THAT(described(body, "lr of lm_head"), IsEmpty());
  EXPECT_THAT(described(body, "lr of model.norm"), IsEmpty());
}

TEST(DescribeSettings, Schedules) {
  auto schedule = [](const std::string &text) {
    return described("loss loss\noptimizer sgd { lr 0.1; " + text + " }", "schedule").front();
  };
  EXPECT_EQ(schedule("schedule cosine { warmup 10; steps 100; min 0.1 }"),
            "schedule: cosine { warmup 10; steps 100; min 0.1 } at p.plan:6:25");
  EXPECT_EQ(schedule("schedule wsd { steps 100; decay 20 }"), "schedule: wsd { steps 100; decay 20 } at p.plan:6:25");
}

TEST(DescribeSettings, GuardsAndPrecision) {
  const std::string body = "loss loss\noptimizer sgd { lr 0.1 }\nclip_grad_norm 0.5\n"
                           "precision {\nreduce f64\nloss_scale dynamic { growth 4 }\n}";
  EXPECT_THAT(described(body, "clip"), ElementsAre("clip_grad_norm: 0.5 at p.plan:7:1"));
  EXPECT_THAT(described(body, "nonfinite"), ElementsAre("nonfinite gradients: skip at p.plan:10:1"))
      << "a scale that changes brings it";
  EXPECT_THAT(described(body, "precision"),
              ElementsAre("precision reduce: f64 at p.plan:9:1",
                          "precision loss_scale: dynamic { initial 65536; growth 4; backoff 0.5; interval 2000 } at "
                          "p.plan:10:1"));
}

TEST(DescribeSettings, DataBlocks) {
  const std::string body = "input input_ids, labels: [batch over dp, seq]\nloss loss\noptimizer sgd { lr 0.1 }\n"
                           "data dp on model {\nshard parameters, gradients, optimizer\nbucket 1536 KiB\n"
                           "unit model.layers.*, [model.norm, model.embed_tokens]\n}";
  std::vector<std::string> ofNorm;
  llvm::copy_if(described(body, "data"), std::back_inserter(ofNorm),
                [](const std::string &text) { return llvm::StringRef(text).contains(" of model.norm.weight: "); });
  EXPECT_THAT(
      ofNorm,
      ElementsAre("data of model.norm.weight: dp: shard parameters, gradients, optimizer at p.plan:8:1",
                  "data unit of model.norm.weight: model.layers.*, [model.norm, model.embed_tokens] at p.plan:11:1",
                  "data keep of model.norm.weight: none", "data bucket of model.norm.weight: 1536 KiB at p.plan:10:1",
                  "data overlap of model.norm.weight: parameters, gradients", "data prefetch of model.norm.weight: 1",
                  "data reduce of model.norm.weight: ", "data average of model.norm.weight: in collective",
                  "data contiguous of model.norm.weight: none", "data register of model.norm.weight: none",
                  "data offload of model.norm.weight: none"));
  EXPECT_THAT(described(body, "data"), Not(Contains(HasSubstr("lm_head"))));
}

TEST(DescribeSettings, TwoDataBlocksOfTheSameAxes) {
  const std::string body = "input input_ids, labels: [batch over dp, seq]\nloss loss\noptimizer sgd { lr 0.1 }\n"
                           "data dp on model.layers { shard optimizer }\ndata dp { bucket 1 KiB }";
  EXPECT_THAT(described(body, "data of lm_head"), ElementsAre("data of lm_head.weight: dp: shard none at p.plan:9:1"));
  EXPECT_THAT(described(body, "data bucket of lm_head"),
              ElementsAre("data bucket of lm_head.weight: 1 KiB at p.plan:9:11"));
  EXPECT_THAT(described(body, "data of model.layers.0.mlp.up"),
              ElementsAre("data of model.layers.0.mlp.up_proj.weight: dp: shard optimizer at p.plan:8:1"));
}

TEST(DescribeSettings, RecomputeOfEachModule) {
  EXPECT_THAT(described("loss loss\noptimizer sgd { lr 0.1 }\nrecompute model.layers.0.mlp, "
                        "model.layers.0.self_attn keep linear, attention",
                        "recompute"),
              ElementsAre("recompute of model.layers.0.mlp: all but attention, linear at p.plan:7:11",
                          "recompute of model.layers.0.self_attn: all but attention, linear at p.plan:7:31"));
}

TEST(DescribeSettings, WhatMayBeSplit) {
  EXPECT_THAT(described("loss loss\noverlap { split products 4; forbid exposed > 5 ms }", "overlap"),
              ElementsAre("overlap forbid exposed: > 5 ms at p.plan:6:29", "overlap split products: 4 at p.plan:6:11"));
}

TEST(DescribeSettings, InitialValuesAsNumbers) {
  const std::string body = "loss loss\noptimizer sgd { lr 0.1 }\ninit {\n**.norm ones\nmodel.embed_tokens uniform n\n"
                           "lm_head kaiming normal fan out\nrest truncated normal 0.02 from -1 to 1 mean 0.5\n}";
  auto ofParameter = [&](const std::string &name) { return described(body, "initial values of " + name).front(); };
  EXPECT_EQ(described(body, "init:").front(), "init: stated at p.plan:7:1");
  EXPECT_EQ(ofParameter("model.norm"), "initial values of model.norm.weight: constant 1 at p.plan:8:1");
  EXPECT_EQ(ofParameter("model.embed"), "initial values of model.embed_tokens.weight: uniform -4 4 at p.plan:9:1");
  EXPECT_EQ(ofParameter("lm_head"),
            "initial values of lm_head.weight: kaiming normal fan out gain 1.4142135623730951 at p.plan:10:1");
  EXPECT_THAT(ofParameter("model.layers.0.mlp.up"), HasSubstr(": truncated normal 0.02 from -1 to 1 mean 0.5"));
}

TEST(DescribeSettings, NamesOfWeightFiles) {
  EXPECT_THAT(described("weight_names {\nmodel.layers.*.mlp.up_proj.weight: h.*.{a, b}\n}", "weight name"),
              ElementsAre("weight name of model.layers.0.mlp.up_proj.weight: h.0.a, h.0.b at p.plan:6:1"));
}
