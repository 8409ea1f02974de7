//===- drafted_training_test.cpp - training statements of a draft ---------===//

#include "compiler/draft/training/drafted_training.h"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace meshplan;
using testing::ElementsAre;
using testing::IsEmpty;

namespace {

class DraftedTraining : public testing::Test {
protected:
  DraftedTraining() {
    for (const char *path : {"", "embed", "h", "h.0", "h.0.up", "h.1", "h.1.up", "norm"})
      model.modules.push_back({path, ""});
    auto add = [&](size_t module, const char *leaf, std::vector<int64_t> shape) {
      model.parameters.push_back({{{module, leaf}}, {}, std::move(shape)});
    };
    add(1, "weight", {96, 32});
    add(4, "weight", {32, 32});
    add(4, "bias", {32});
    add(6, "weight", {32, 32});
    add(6, "bias", {32});
    add(7, "weight", {32});
    model.modules[3].className = model.modules[5].className = "pkg.Block";
    training.optimizer = AdoptedOptimizer{"sgd", "", {{"lr 0.1", ""}}, {}};
  }
  /// "data dp { shard optimizer; unit h.* }"
  std::vector<std::string> draft() {
    diagnostics = Diagnostics(sources);
    std::vector<std::string> lines;
    for (const DraftStatement &statement :
         draftTraining(training, {model, mesh, unused, splitsBatch, batch}, diagnostics)) {
      std::string options;
      for (const AdoptedText &option : statement.options)
        options += (options.empty() ? " { " : "; ") + option.text;
      lines.push_back(statement.text + options + (options.empty() ? "" : " }"));
    }
    return lines;
  }

  ModelOutline model;
  AdoptedTraining training;
  std::vector<DraftAxis> mesh = {{"dp", 2, AxisRole::data}, {"tp", 2, AxisRole::tensor}};
  std::vector<std::string> unused;
  bool splitsBatch = true;
  std::optional<int64_t> batch = 16;
  Sources sources;
  Diagnostics diagnostics{sources};
};

} // namespace

TEST_F(DraftedTraining, WhatIsUsual) {
  training = usualTraining(mesh, model);
  EXPECT_THAT(draft(), ElementsAre("data dp { shard gradients, optimizer; unit h.* }",
                                   "optimizer adamw { lr 3e-4; betas (0.9, 0.95); weight_decay 0.1; group **.bias, "
                                   "norm.weight { weight_decay 0 } }",
                                   "clip_grad_norm 1.0"));
  mesh = {{"fsdp", 2, AxisRole::data}};
  training = usualTraining(mesh, model);
  EXPECT_EQ(draft().front(), "data fsdp { shard parameters, gradients, optimizer; unit h.* }");
  for (OutlineParameter &parameter : model.parameters)
    parameter.dtype = "bf16";
  EXPECT_EQ(draft()[1], "precision { master f32 }");
  for (OutlineParameter &parameter : model.parameters)
    parameter.dtype = "f16";
  training = usualTraining(mesh, model);
  EXPECT_EQ(draft()[1], "precision { master f32; loss_scale dynamic }");
}

TEST_F(DraftedTraining, UnitsAreLayersOrClasses) {
  training.data.shard.text = "optimizer";
  EXPECT_EQ(draft().front(), "data dp { shard optimizer; unit h.* }");
  training.data.unitClasses = {"other.path.Block"};
  training.data.keep = {"keep", ""};
  training.data.shard.text = "parameters, gradients, optimizer";
  EXPECT_EQ(draft().front(), "data dp { shard parameters, gradients, optimizer; unit h.*; keep h.* }");
  training.data.unitClasses = {"Other"};
  EXPECT_EQ(draft().front(), "data dp { shard parameters, gradients, optimizer }");
  mesh = {{"dp", 2, AxisRole::data}, {"fsdp", 2, AxisRole::data}};
  EXPECT_EQ(draft().front(), "data dp, fsdp { shard parameters, gradients, optimizer over fsdp }");
  splitsBatch = false;
  EXPECT_THAT(draft(), ElementsAre("optimizer sgd { lr 0.1 }")) << "no gradient is accumulated";
}

TEST_F(DraftedTraining, MicrobatchesFollowFromTheBatch) {
  training.globalBatch = AdoptedNumber{16, "global"};
  training.microBatch = AdoptedNumber{2, "micro"};
  training.data.reduceEach.text = "reduce last microbatch";
  EXPECT_THAT(draft(), ElementsAre("microbatches 4", "data dp { reduce last microbatch }", "optimizer sgd { lr 0.1 }"));
  training.microBatch->value = 8;
  EXPECT_THAT(draft(), ElementsAre("optimizer sgd { lr 0.1 }"));
  training.microBatch->value = 3;
  draft();
  EXPECT_EQ(diagnostics.text(), "error: a batch of 16 is not a multiple of 3 samples on each of 2 ranks\n");
  // In 64 bits, 4 times this number is 0.
  mesh.front().size = 4;
  training.microBatch->value = 4611686018427387904;
  draft();
  EXPECT_EQ(diagnostics.text(),
            "error: a batch of 16 is not a multiple of 4611686018427387904 samples on each of 4 ranks\n");
  training.globalBatch->value = 64;
  draft();
  EXPECT_EQ(diagnostics.text(), "") << "the batch is another one, and its parts are";
  batch = std::nullopt;
  EXPECT_THAT(draft(), ElementsAre("optimizer sgd { lr 0.1 }"));
}

TEST_F(DraftedTraining, PrecisionIsWhatDiffers) {
  AdoptedPrecision &precision = training.precision;
  precision.stored = {"bf16", ""}, precision.compute = {"bf16", ""}, precision.reduce = {"f32", ""};
  precision.master = {"f32", ""}, precision.state = {"bf16", ""};
  EXPECT_EQ(draft().front(), "precision { compute bf16; state bf16 }");
  EXPECT_EQ(diagnostics.text(),
            "warning: this states parameters in bf16, and those of the archive are in f32\n"
            "help: the dtype of the archive applies: a model is exported in the dtype that it is trained in\n");
  for (OutlineParameter &parameter : model.parameters)
    parameter.dtype = "bf16";
  EXPECT_EQ(draft().front(), "precision { master f32; state bf16 }");
  precision.master = {};
  EXPECT_EQ(draft().front(), "precision { reduce f32 }");
  EXPECT_EQ(diagnostics.text(), "");
  precision.lossScale.text = "loss_scale 8";
  EXPECT_EQ(draft().front(), "precision { reduce f32; loss_scale 8 }");
}

TEST_F(DraftedTraining, WithoutAnOptimizerOnlyComputingIsSaid) {
  training.optimizer.reset();
  training.data.shard.text = "optimizer";
  training.recompute = AdoptedRecompute{};
  training.precision.compute.text = "bf16";
  training.precision.reduce.text = "bf16";
  EXPECT_THAT(draft(), ElementsAre("precision { compute bf16 }"));
}

TEST_F(DraftedTraining, LayersAreRecomputed) {
  training.recompute = AdoptedRecompute{"", 0, {"attention"}};
  EXPECT_EQ(draft().front(), "recompute h.* keep attention");
  training.recompute = AdoptedRecompute{"", 1, {}};
  EXPECT_EQ(draft().front(), "recompute h.0");
}

TEST_F(DraftedTraining, WhatTheLossDoesNotReachIsNamed) {
  training = usualTraining({}, model);
  unused = {"h.0.up.weight", "h.0.up.bias", "norm.weight"};
  std::vector<std::string> lines = draft();
  EXPECT_EQ(lines.back(), "unused h.0.up.{weight, bias}, norm.weight");
  EXPECT_THAT(lines[1], testing::HasSubstr("group h.1.up.bias { weight_decay 0 }"));
}

TEST_F(DraftedTraining, FrozenModules) {
  training.freeze = {{{"embed"}, "freeze_embeddings"}, {{"h.0", "h.1"}, "freeze_language_model"}};
  unused = {"embed.weight", "norm.weight"};
  training.recompute = AdoptedRecompute{"", 0, {}};
  EXPECT_THAT(draft(), ElementsAre("optimizer sgd { lr 0.1 }", "freeze embed", "freeze h.*", "unused norm.weight"));
  EXPECT_EQ(whyUntrained(training, {model, mesh, unused, splitsBatch, batch}),
            "of 6 parameters 5 are frozen by the recipe, 1 are not reached by the loss");
  training.freeze.pop_back();
  EXPECT_EQ(whyUntrained(training, {model, mesh, unused, splitsBatch, batch}), "");
  model.parameters.clear();
  EXPECT_EQ(whyUntrained(training, {model, mesh, unused, splitsBatch, batch}), "the model has no parameter");
}
