//===- bind_values_test.cpp - inputs, outputs and training -----------------===//

#include "test/unit/frontend/models.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace meshplan;
using namespace meshplan::test;
using testing::ElementsAre;

namespace {

BoundPlan bound(const ModelOutline &model, const std::string &body) {
  Outcome outcome = bindTo(model, "plan p {\n  mesh dp = 2, tp = 3\n" + body + "\n rest: replicate\n}\n");
  EXPECT_EQ(outcome.text, "");
  return outcome.plan.value_or(BoundPlan());
}

ModelOutline symbolic() {
  ModelOutline model = llama(1);
  for (OutlineValue &input : model.inputs)
    input.dims = {{0, "s0"}, {0, "s1"}};
  return model;
}

TEST(BindValues, StaticInputs) {
  BoundPlan plan = bound(llama(1), "input input_ids, labels: [batch = 4 over dp, seq]\nloss loss");
  ASSERT_EQ(plan.inputs.size(), 2u);
  EXPECT_EQ(plan.inputs[1].dims.at(0).name, "batch");
  EXPECT_EQ(plan.inputs[1].dims[0].extent, 4);
  EXPECT_THAT(plan.inputs[1].dims[0].axes, ElementsAre(0));
  EXPECT_EQ(plan.inputs[1].dims.at(1).extent, 8);
  EXPECT_EQ(plan.loss->output, 0u);
}

TEST(BindValues, UndeclaredInputsAreWhole) {
  BoundPlan plan = bound(llama(1), "");
  ASSERT_EQ(plan.inputs.size(), 2u);
  EXPECT_EQ(plan.inputs[0].dims.at(1).extent, 8);
  EXPECT_TRUE(plan.inputs[0].dims[1].axes.empty());
  EXPECT_FALSE(plan.inputs[0].range.hasLine());
  EXPECT_FALSE(plan.loss);
}

TEST(BindValues, SymbolsAreBound) {
  BoundPlan plan =
      bound(symbolic(), "let n = 8\ninput input_ids: [batch = 2 * n over dp, seq = 128]\ninput labels: [batch, _]");
  EXPECT_EQ(plan.inputs.at(1).dims.at(0).extent, 16);
  EXPECT_EQ(plan.inputs.at(1).dims.at(1).extent, 128);
  EXPECT_EQ(plan.inputs.at(1).dims.at(1).name, "");
  ASSERT_EQ(plan.symbols.size(), 2u);
  EXPECT_EQ(plan.symbols[0].symbol, "s0");
  EXPECT_EQ(plan.symbols[0].extent, 16);
}

TEST(BindValues, SymbolTakesTheExtentOfItsName) {
  ModelOutline model = llama(1);
  model.inputs[1].dims = {{0, "s0"}, {0, "s1"}};
  BoundPlan plan = bound(model, "input input_ids: [batch, seq]\ninput labels: [batch, seq]");
  EXPECT_EQ(plan.inputs.at(1).dims.at(0).extent, 4);
  EXPECT_EQ(plan.inputs.at(1).dims.at(1).extent, 8);
}

TEST(BindValues, OutputsByNameAndNumber) {
  BoundPlan plan = bound(llama(1), "output 1: [batch over dp, _, _ over tp]\nloss 0");
  ASSERT_EQ(plan.outputs.size(), 1u);
  EXPECT_EQ(plan.outputs[0].output, 1u);
  EXPECT_THAT(plan.outputs[0].dims.at(2).axes, ElementsAre(1));
  EXPECT_EQ(plan.loss->output, 0u);
}

TEST(BindValues, Microbatches) {
  BoundPlan plan = bound(llama(1), "input input_ids: [batch, seq]\nmicrobatches 2 mean");
  EXPECT_EQ(plan.microbatches.count, 2);
  EXPECT_TRUE(plan.microbatches.mean);
  EXPECT_EQ(plan.later.at(0).name, "microbatches");
  EXPECT_TRUE(bound(llama(1), "microbatches 1").later.empty());
}

TEST(BindTraining, DataBlock) {
  BoundPlan plan = bound(llama(2), "data (dp, tp) on model.layers {\n shard parameters, gradients, optimizer over dp\n"
                                   " unit model.layers.*, [model.norm, lm_head]\n keep model.norm\n bucket 64 MiB\n"
                                   " overlap gradients, parameters\n prefetch 2\n reduce each microbatch\n"
                                   " average after collective\n}\ndata dp { bucket none; overlap none }");
  ASSERT_EQ(plan.data.size(), 2u);
  const BoundData &data = plan.data[0];
  EXPECT_THAT(data.axes, ElementsAre(0, 1));
  EXPECT_THAT(data.shard, ElementsAre(DataKind::Parameters, DataKind::Gradients, DataKind::Optimizer));
  EXPECT_THAT(data.shardAxes, ElementsAre(0));
  EXPECT_EQ(data.parameters.size(), 18u);
  ASSERT_EQ(data.units.size(), 2u);
  EXPECT_EQ(data.units[0].at(0).modules.size(), 2u);
  EXPECT_EQ(data.units[0][0].parameters.size(), 18u);
  EXPECT_EQ(data.units[1].size(), 2u);
  EXPECT_EQ(data.bucketBytes, 64 << 20);
  EXPECT_TRUE(data.overlapGradients && data.overlapParameters);
  EXPECT_EQ(data.prefetch, 2);
  EXPECT_EQ(data.reduce, ReduceTime::EachMicrobatch);
  EXPECT_EQ(data.average, AverageTime::AfterCollective);
  EXPECT_EQ(plan.data[1].parameters.size(), 3u);
  EXPECT_EQ(plan.data[1].bucketBytes, std::nullopt);
}

TEST(BindTraining, PrecisionOptimizerAndOthers) {
  BoundPlan plan = bound(llama(2), "precision { compute bf16; master f32 }\nclip_grad_norm 0.5\n"
                                   "optimizer adamw { lr 3e-4; betas (0.9, 0.95); group **.*norm, lm_head { lr 0 } }\n"
                                   "recompute model.layers.* keep attention\nfreeze lm_head.weight\ntrain only model\n"
                                   "unused model.norm");
  EXPECT_EQ(plan.precision->compute, "bf16");
  EXPECT_EQ(plan.precision->master, "f32");
  EXPECT_EQ(plan.precision->gather, "");
  EXPECT_EQ(plan.optimizer->name, "adamw");
  EXPECT_THAT(plan.optimizer->options.at(1).values, ElementsAre(0.9, 0.95));
  ASSERT_EQ(plan.optimizer->groups.size(), 2u);
  EXPECT_EQ(plan.optimizer->groups[0].paths.parameters.size(), 5u);
  EXPECT_EQ(plan.recomputes.at(0).paths.at(0).modules.size(), 2u);
  EXPECT_THAT(plan.recomputes[0].keep, ElementsAre("attention"));
  ASSERT_EQ(plan.trainable.size(), 3u);
  EXPECT_EQ(plan.trainable[0].paths.at(0).parameters.size(), 1u);
  EXPECT_EQ(plan.trainable[1].paths.at(0).parameters.size(), 20u);
  EXPECT_DOUBLE_EQ(plan.clipGradNorm->norm, 0.5);
  EXPECT_EQ(plan.later.size(), 7u);
}

} // namespace
