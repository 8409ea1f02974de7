//===- automodel_test.cpp - recipes of NeMo Automodel ---------------------===//

#include "compiler/adopt/automodel.h"
#include "test/unit/adopt/adopt_test.h"

using namespace meshplan;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

namespace {

class Automodel : public test::AdoptTest {
protected:
  std::optional<AdoptedPlan> adopt(const std::string &text) {
    return adoptAutomodel(source(text, "dir/r.yaml"), model, "tp", diagnostics);
  }
  /// The options of a data block, with what is shared out in front, of a section `distributed`.
  std::vector<std::string> data(const std::string &options) {
    std::optional<AdoptedPlan> plan = adopt("distributed:\n" + options);
    if (!plan)
      return said();
    std::vector<std::string> all = texts(plan->training.data.options);
    all.insert(all.begin(), plan->training.data.shard.text);
    return all;
  }
  ModelOutline model = test::mixture();
};

} // namespace

TEST_F(Automodel, Sizes) {
  std::optional<AdoptedPlan> plan = adopt("distributed:\n  strategy: fsdp2\n  dp_size: none\n  dp_replicate_size: 2\n"
                                          "  tp_size: 4\n  cp_size: 1\n  ep_size:\n  sequence_parallel: true\n");
  ASSERT_TRUE(plan) << diagnostics.text();
  EXPECT_FALSE(plan->mesh.data);
  EXPECT_EQ(plan->mesh.replicas->value, 2);
  EXPECT_EQ(plan->mesh.tensor->value, 4);
  EXPECT_EQ(plan->mesh.tensor->from, "tp_size (r.yaml:5)");
  EXPECT_TRUE(plan->sequence);
  EXPECT_THAT(said(), IsEmpty());
  EXPECT_FALSE(adopt("distributed:\n  sequence_parallel: true\n")->sequence);
  EXPECT_THAT(said(), ElementsAre("2:3: warning: 'sequence_parallel' has no effect: 'tp_size' is 1"));
}

TEST_F(Automodel, Strategies) {
  constexpr const char *all = "parameters, gradients, optimizer";
  EXPECT_THAT(data("  dp_size: 2\n"), ElementsAre(all));
  EXPECT_THAT(data("  _target_: nemo_automodel.components.distributed.fsdp2.FSDP2Manager\n"), ElementsAre(all));
  EXPECT_THAT(data("  strategy: ddp\n"), ElementsAre("", "bucket 25 MiB"));
  EXPECT_THAT(data("  strategy: ddp\n  bucket_cap_mb: 50\n  gradient_as_bucket_view: true\n"),
              ElementsAre("", "bucket 50 MiB", "contiguous gradients"));
  EXPECT_THAT(data("  strategy: mfsdp\n"), ElementsAre(all));
  EXPECT_THAT(data("  strategy: megatron_fsdp\n  zero_dp_strategy: 1\n  overlap_param_gather: false\n"
                   "  average_in_collective: true\n  disable_bucketing: true\n  nccl_ub: true\n"),
              ElementsAre("optimizer", "average in collective", "bucket none", "contiguous parameters, gradients",
                          "register buffers", "overlap gradients"));
  EXPECT_THAT(data("  strategy: megatron_fsdp\n  zero_dp_strategy: 4\n"),
              ElementsAre("3:21: error: 'zero_dp_strategy' is 0, 1, 2 or 3"));
  EXPECT_THAT(data("  strategy: fsdp3\n"),
              ElementsAre("2:13: error: unknown strategy 'fsdp3'", "help: did you mean 'fsdp2'?"));
  EXPECT_THAT(data("  strategy: ddp\n  tp_size: 2\n"),
              ElementsAre("3:12: error: 'tp_size' of 2 and the strategy 'ddp', which divides no weights",
                          "help: the strategy 'fsdp2' does"));
}

TEST_F(Automodel, OptionsOfFsdp2) {
  std::optional<AdoptedPlan> plan =
      adopt("distributed:\n  offload_policy:\n    _target_: torch.distributed.fsdp.CPUOffloadPolicy\n"
            "  defer_fsdp_grad_sync: false\n  reshard_after_forward: false\n  activation_checkpointing: selective\n"
            "  mp_policy:\n    param_dtype: bfloat16\n    reduce_dtype: torch.bfloat16\n    output_dtype: float32\n");
  ASSERT_TRUE(plan) << diagnostics.text();
  EXPECT_THAT(texts(plan->training.data.options), ElementsAre("offload parameters, optimizer"));
  EXPECT_EQ(plan->training.data.reduceEach.text, "reduce each microbatch");
  EXPECT_EQ(plan->training.data.keep.from, "reshard_after_forward (r.yaml:5)");
  EXPECT_THAT(plan->training.recompute->keep, ElementsAre("attention"));
  EXPECT_EQ(plan->training.precision.compute.text, "bf16");
  EXPECT_EQ(plan->training.precision.reduce.text, "bf16");
  EXPECT_THAT(said(), ElementsAre("10:5: warning: 'output_dtype' has no effect here"));
  plan = adopt("distributed:\n  activation_checkpointing: true\n");
  EXPECT_THAT(plan->training.recompute->keep, IsEmpty());
  EXPECT_EQ(plan->training.precision.compute.from, "the default of mp_policy");
  EXPECT_FALSE(adopt("distributed:\n  activation_checkpointing: some\n"));
  EXPECT_THAT(said(), ElementsAre("2:29: error: 'some' of 'activation_checkpointing' is none of true, false, full, "
                                  "selective"));
  EXPECT_FALSE(adopt("distributed:\n  mp_policy:\n    param_dtype: float8\n"));
  EXPECT_THAT(said(), ElementsAre("3:18: error: 'float8' is no dtype of a plan",
                                  "help: dtypes are float64, float32, bfloat16 and float16"));
}

TEST_F(Automodel, OptionsWithoutAnEffectAreSaid) {
  EXPECT_TRUE(adopt("distributed:\n  enable_compile: true\n  enable_async_tensor_parallel: false\n  pipeline:\n"
                    "    pp_schedule: 1f1b\n  moe:\n    reshard_after_forward: false\n"
                    "  activation_checkpointing_scope: vision\ncompile:\n  enabled: true\n"));
  EXPECT_THAT(said(),
              ElementsAre("2:3: warning: 'enable_compile' has no effect here",
                          "8:3: warning: 'activation_checkpointing_scope' has no effect: all layers are recomputed",
                          "4:3: warning: 'pipeline' has no effect: 'pp_size' is 1",
                          "6:3: warning: 'moe' has no effect: 'ep_size' is 1",
                          "9:1: warning: 'compile' has no effect: operators run as PyTorch has them"));
}

TEST_F(Automodel, UnknownOptionsAreErrors) {
  EXPECT_FALSE(adopt("distributed:\n  tp_sise: 2\n  offload: true\n"));
  EXPECT_THAT(said(),
              ElementsAre("2:3: error: unknown option 'tp_sise' of 'distributed'", "help: did you mean 'tp_size'?",
                          "3:3: error: unknown option 'offload' of 'distributed'"));
  EXPECT_FALSE(adopt("distributed:\n  tp_size: two\n  sequence_parallel: maybe\n"));
  EXPECT_THAT(said(), ElementsAre("2:12: error: 'tp_size' is no whole number from 1 on",
                                  "3:22: error: 'sequence_parallel' is neither true nor false"));
  EXPECT_FALSE(adopt("distributed: 3\n"));
  EXPECT_THAT(said(), ElementsAre("1:14: error: 'distributed' is no map"));
  EXPECT_FALSE(adopt("model:\n  torch_dtype: bf16\n"));
  EXPECT_THAT(said(), ElementsAre("error: has no section 'distributed', so that it says nothing of a plan"));
}

TEST_F(Automodel, WhatPlansDoNotHaveIsRefusedByName) {
  EXPECT_FALSE(adopt("distributed:\n  pp_size: 4\n  cp_size: 2\n  ep_size: 8\nfp8:\n  enabled: true\n"));
  EXPECT_THAT(
      said(),
      ElementsAre("2:12: error: 'pp_size' of 4 asks for pipelining, for which there is no statement yet",
                  "3:12: error: 'cp_size' of 2 asks for context parallelism, for which there is no statement yet",
                  "4:12: error: 'ep_size' of 8 asks for expert parallelism, for which there is no style yet",
                  "6:12: error: 'fp8' asks for 8-bit numbers, which need a scale for each tensor"));
}

TEST_F(Automodel, PlansOfStyles) {
  std::optional<AdoptedPlan> plan = adopt("distributed:\n  tp_size: 2\n  tp_plan:\n    "
                                          "model.layers.*.self_attn.q_proj: colwise\n    lm_head: colwise_rep\n");
  ASSERT_TRUE(plan) << diagnostics.text();
  ASSERT_TRUE(plan->styles);
  EXPECT_THAT(*plan->styles, SizeIs(3));
  EXPECT_EQ(plan->notes.front(), "Sizes, styles and numbers: a recipe of NeMo Automodel.");
  EXPECT_FALSE(adopt("distributed:\n  tp_plan: my.module.plan\n"));
  EXPECT_THAT(said(),
              ElementsAre("2:12: error: 'tp_plan' is the name of a plan in Python, which cannot be read",
                          "help: write it as a map from names to styles, or leave it out: styles are found from "
                          "the graph then"));
  EXPECT_FALSE(adopt("distributed:\n  tp_plan: {xyz: colwise}\n"));
  EXPECT_THAT(said(), testing::Contains("2:3: error: no name of 'tp_plan' is one of the model"));
}

TEST_F(Automodel, OtherSections) {
  std::optional<AdoptedPlan> plan =
      adopt("recipe: Train\nmodel:\n  torch_dtype: torch.bfloat16\nstep_scheduler:\n"
            "  global_batch_size: 32\n  local_batch_size: 2\n  max_steps: 200\n"
            "clip_grad_norm:\n  max_norm: 0.5\ndistributed:\n  tp_size: 2\noptimizer:\n"
            "  _target_: torch.optim.AdamW\n  lr: 1.0e-5\n  betas: [0.9, 0.95]\n  eps: 1e-8\n"
            "  weight_decay: 0.01\n  foreach: true\nlr_scheduler:\n  lr_decay_style: cosine\n"
            "  min_lr: 1.0e-6\ndataset:\n  path: x\n");
  ASSERT_TRUE(plan) << diagnostics.text();
  EXPECT_EQ(plan->training.precision.stored.text, "bf16");
  EXPECT_EQ(plan->training.globalBatch->value, 32);
  EXPECT_EQ(plan->training.microBatch->value, 2);
  EXPECT_EQ(plan->training.clip.text, "clip_grad_norm 0.5");
  EXPECT_EQ(plan->training.optimizer->kind, "adamw");
  EXPECT_THAT(texts(plan->training.optimizer->options),
              ElementsAre("lr 1e-5", "betas (0.9, 0.95)", "eps 1e-8", "weight_decay 0.01",
                          "schedule cosine { warmup 20; steps 200; min 0.1 }"))
      << "without a number of warmup steps the recipe takes a tenth";
  EXPECT_EQ(plan->notes.back(), "Says nothing of a plan: recipe, dataset.");
  EXPECT_THAT(said(), ElementsAre("18:3: warning: 'foreach' has no effect here"));
}

TEST_F(Automodel, Optimizers) {
  auto kind = [&](const std::string &target, const std::string &options = "") {
    std::optional<AdoptedPlan> plan =
        adopt("distributed: {}\noptimizer:\n  _target_: " + target + "\n  lr: 0.1\n" + options);
    return plan ? plan->training.optimizer->kind : said().front();
  };
  EXPECT_EQ(kind("torch.optim.Adam"), "adam");
  EXPECT_EQ(kind("torch.optim.SGD", "  momentum: 0.9\n"), "sgd");
  EXPECT_EQ(kind("flashoptim.FlashAdamW"), "adamw");
  EXPECT_EQ(kind("transformer_engine.pytorch.optimizers.FusedAdam"), "adamw");
  EXPECT_EQ(kind("transformer_engine.pytorch.optimizers.FusedAdam", "  adam_w_mode: false\n"), "adam");
  EXPECT_EQ(kind("dion.Muon"), "3:13: error: there is no optimizer 'Muon' yet");
  EXPECT_EQ(kind("torch.optim.Adam", "  amsgrad: true\n"), "5:12: error: the optimizer has no 'amsgrad' yet");
  EXPECT_EQ(kind("torch.optim.Adam", "  betas: 0.9\n"), "5:10: error: 'betas' are two numbers");
  EXPECT_EQ(kind("torch.optim.Adam", "  eps: -1\n"), "5:8: error: 'eps' is no number from 0 on");
  adopt("distributed: {}\noptimizer:\n  lr: 0.1\nlr_scheduler:\n  lr_decay_style: linear\n");
  EXPECT_THAT(said(), ElementsAre("4:1: warning: the lr stays constant: a schedule needs the number of steps",
                                  "help: 'step_scheduler.max_steps' says the number of steps"));
}
