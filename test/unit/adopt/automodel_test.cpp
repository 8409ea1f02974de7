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
  /// The options of the data block of a section `distributed`, preceded by the sharded kinds of tensors.
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
              ElementsAre("3:12: error: 'tp_size' of 2 and the strategy 'ddp', which does not split weights",
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
  EXPECT_THAT(said(), ElementsAre("3:18: error: 'float8' is not a dtype of the language",
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
  EXPECT_THAT(said(), ElementsAre("2:12: error: 'tp_size' is not a whole number of at least 1",
                                  "3:22: error: 'sequence_parallel' is neither true nor false"));
  EXPECT_FALSE(adopt("distributed: 3\n"));
  EXPECT_THAT(said(), ElementsAre("1:14: error: 'distributed' is not a map"));
  EXPECT_FALSE(adopt("model:\n  torch_dtype: bf16\n"));
  EXPECT_THAT(said(), ElementsAre("error: has no section 'distributed', so it does not describe a plan",
                                  "help: 'distributed: {tp_size: 2}' splits the weights over 2 ranks"));
}

TEST_F(Automodel, WhatPlansDoNotHaveIsRefusedByName) {
  EXPECT_FALSE(adopt("distributed:\n  pp_size: 4\n  cp_size: 2\n  ep_size: 8\nfp8:\n  enabled: true\n"));
  EXPECT_THAT(
      said(),
      ElementsAre("2:12: error: 'pp_size' of 4 asks for pipelining, for which there is no statement yet",
                  "help: leave out 'pp_size': its ranks then split the batch, or with 'tp_size' the weights",
                  "3:12: error: 'cp_size' of 2 asks for context parallelism, for which there is no statement yet",
                  "help: leave out 'cp_size': its ranks then split the batch, or with 'tp_size' the weights",
                  "4:12: error: 'ep_size' of 8 asks for expert parallelism, which a plan states for modules",
                  "help: leave out 'ep_size', and state 'expert AXIS' for the modules that hold the experts",
                  "6:12: error: 'fp8' asks for 8-bit numbers, which need a scale for each tensor",
                  "help: leave out 'fp8': products are then computed in the dtype of 'mp_policy'"));
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
  EXPECT_EQ(plan->notes.back(), "Without effect on a plan: recipe, dataset.");
  EXPECT_THAT(said(), ElementsAre("18:3: warning: 'foreach' has no effect here"));
}

TEST_F(Automodel, FusedAdamHasADefaultOfItsOwn) {
  auto options = [&](const std::string &more) {
    return texts(adopt("distributed: {}\noptimizer:\n  _target_: apex.optimizers.FusedAdam\n  lr: 0.1\n" + more)
                     ->training.optimizer->options);
  };
  EXPECT_THAT(options(""), ElementsAre("lr 0.1", "weight_decay 0"));
  EXPECT_THAT(options("  weight_decay: 0.2\n"), ElementsAre("lr 0.1", "weight_decay 0.2"));
  EXPECT_THAT(options("  adam_w_mode: false\n"), ElementsAre("lr 0.1"));
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
  EXPECT_EQ(kind("torch.optim.Adam", "  eps: -1\n"), "5:8: error: 'eps' is not a number of at least 0");
  adopt("distributed: {}\noptimizer:\n  lr: 0.1\nlr_scheduler:\n  lr_decay_style: linear\n");
  EXPECT_THAT(said(), ElementsAre("4:1: warning: the lr stays constant: a schedule needs the number of steps",
                                  "help: 'step_scheduler.max_steps' sets the number of steps"));
}

TEST_F(Automodel, SectionsThatMayChangeTheTrainingAreWarnings) {
  std::optional<AdoptedPlan> plan =
      adopt("distributed: {}\nrecipe: Train\npeft:\n  dim: 8\nquantization:\n  load_in_4bit: true\nema:\n  decay: 0.9\n"
            "qat:\n  enabled: false\nloss_fn:\n  _target_: x.MaskedCrossEntropy\nkd_loss_fn: none\nnovelty: 1\n"
            "_base: 2\nvalidation_dataset_x: 3\n");
  ASSERT_TRUE(plan) << diagnostics.text();
  EXPECT_THAT(
      said(),
      ElementsAre(
          "3:1: warning: 'peft' is left out: the archive has no adapters, so that all its parameters are trained",
          "help: tools/export_model.py and 'python -m meshplan.export' add adapters and freeze the rest: "
          "--lora MODULES",
          "5:1: warning: 'quantization' is left out: parameters have the numbers and the dtype of the archive",
          "7:1: warning: 'ema' is left out: it may change the training",
          "14:1: warning: 'novelty' is left out: it is an unknown section, which may change the training"));
  EXPECT_THAT(plan->notes, ElementsAre(testing::_,
                                       "Left out, and may change the training: peft (r.yaml:3), quantization "
                                       "(r.yaml:5), ema (r.yaml:7), novelty (r.yaml:14).",
                                       "Without effect on a plan: recipe, loss_fn, _base, validation_dataset_x."));
  adopt("distributed: {}\nloss_fn:\n  _target_: x.KDLoss\n");
  EXPECT_THAT(said(), ElementsAre("2:1: warning: 'loss_fn' is left out: the loss is the one that the model of the "
                                  "archive computes"));
}

TEST_F(Automodel, AdaptersAreThoseOfTheArchive) {
  model.modules.push_back({"lm_head.lora_A.default", ""});
  model.parameters.push_back({{{model.modules.size() - 1, "weight"}}, {}, {4, 32}});
  EXPECT_TRUE(adopt("distributed: {}\npeft:\n  dim: 8\n"));
  EXPECT_EQ(said().front(),
            "2:1: warning: 'peft' is left out: the archive has adapters, and freezes nothing beside them");
  model.parameters.front().requiresGrad = false;
  std::optional<AdoptedPlan> plan = adopt("distributed: {}\npeft:\n  dim: 8\n");
  EXPECT_THAT(said(), IsEmpty());
  EXPECT_THAT(plan->notes, SizeIs(1));
}

TEST_F(Automodel, WhatIsFrozen) {
  model.modules[1].className = "torch.nn.modules.sparse.Embedding";
  for (const char *path : {"model.visual", "model.visual.blocks.0", "model.text_norm"}) {
    model.modules.push_back({path, ""});
    model.parameters.push_back({{{model.modules.size() - 1, "weight"}}, {}, {32}});
  }
  std::optional<AdoptedPlan> plan =
      adopt("distributed: {}\nfreeze_config:\n  freeze_embeddings: true\n  freeze_language_model: true\n");
  ASSERT_TRUE(plan) << diagnostics.text();
  EXPECT_THAT(said(), IsEmpty());
  ASSERT_THAT(plan->training.freeze, SizeIs(3));
  EXPECT_THAT(plan->training.freeze[0].modules, ElementsAre("model.embed_tokens"));
  EXPECT_EQ(plan->training.freeze[0].from, "freeze_embeddings (r.yaml:3)");
  EXPECT_THAT(plan->training.freeze[1].modules, ElementsAre("model.text_norm"));
  EXPECT_THAT(plan->training.freeze[2].modules, ElementsAre("model.visual"));
  EXPECT_EQ(plan->training.freeze[2].from, "the default of freeze_vision_tower");
  plan = adopt("distributed: {}\nfreeze_config:\n  freeze_vision_tower: false\n  freeze_audio_tower: true\n");
  EXPECT_THAT(plan->training.freeze, IsEmpty());
  EXPECT_THAT(said(), ElementsAre("4:3: warning: 'freeze_audio_tower' freezes nothing: the model has no module with "
                                  "parameters whose name contains 'audio', 'speech' or 'sound'",
                                  "help: 'freeze PATH' in the plan freezes what PATH names"));
  model.modules[1].className = "";
  adopt("distributed: {}\nfreeze_config:\n  freeze_embeddings: true\n");
  EXPECT_EQ(said().front(), "3:3: warning: 'freeze_embeddings' freezes nothing: the model has no embedding with "
                            "parameters");
}

TEST_F(Automodel, NormsOfOtherOrders) {
  std::optional<AdoptedPlan> plan = adopt("distributed: {}\nclip_grad_norm:\n  max_norm: 1.0\n  norm_type: inf\n");
  EXPECT_THAT(said(),
              ElementsAre("4:14: warning: 'norm_type' of inf is left out: the norm that is clipped is the 2-norm"));
  EXPECT_EQ(plan->training.clip.text, "clip_grad_norm 1");
  EXPECT_EQ(plan->training.clip.from, "max_norm (r.yaml:3); 'norm_type' of inf is left out");
  plan = adopt("distributed: {}\nclip_grad_norm:\n  max_norm: 1.0\n  norm_type: 2.0\n");
  EXPECT_THAT(said(), IsEmpty());
}

TEST_F(Automodel, MistypedNamesAreErrors) {
  EXPECT_FALSE(adopt("distributed: {}\noptimiser:\n  lr: 1\nstep_scheduler:\n  global_batchsize: 8\n  max_stepz: 9\n"
                     "clip_grad_norm:\n  max_normm: 1\nmodel:\n  torch_dtypee: bf16\noptimizer:\n  lr: 1\n"
                     "  betass: [0, 0]\n  weight_decayy: 1\nlr_scheduler:\n  lr_warmup_step: 1\n"
                     "freeze_config:\n  freeze_embedings: true\n"));
  EXPECT_THAT(
      said(),
      ElementsAre("10:3: error: unknown option 'torch_dtypee' of 'model'", "help: did you mean 'torch_dtype'?",
                  "5:3: error: unknown option 'global_batchsize' of 'step_scheduler'",
                  "help: did you mean 'global_batch_size'?",
                  "6:3: error: unknown option 'max_stepz' of 'step_scheduler'", "help: did you mean 'max_steps'?",
                  "13:3: error: unknown option 'betass' of 'optimizer'", "help: did you mean 'betas'?",
                  "14:3: error: unknown option 'weight_decayy' of 'optimizer'", "help: did you mean 'weight_decay'?",
                  "16:3: error: unknown option 'lr_warmup_step' of 'lr_scheduler'",
                  "help: did you mean 'lr_warmup_steps'?",
                  "15:1: warning: the lr stays constant: a schedule needs the number of steps",
                  "help: 'step_scheduler.max_steps' sets the number of steps",
                  "8:3: error: unknown option 'max_normm' of 'clip_grad_norm'", "help: did you mean 'max_norm'?",
                  "2:1: error: unknown section 'optimiser'", "help: did you mean 'optimizer'?",
                  "18:3: error: unknown option 'freeze_embedings' of 'freeze_config'",
                  "help: did you mean 'freeze_embeddings'?"));
  EXPECT_FALSE(adopt("distributd:\n  tp_size: 2\n"));
  EXPECT_THAT(said(), ElementsAre("1:1: error: unknown section 'distributd'", "help: did you mean 'distributed'?"));
  EXPECT_TRUE(adopt("distributed: {}\nstep_scheduler:\n  ckpt_every_steps: 5\n  novelty: 3\n"));
  EXPECT_THAT(said(), ElementsAre("4:3: warning: 'novelty' has no effect here"));
}

TEST_F(Automodel, OptionsOfOptimizersThatPlansDoNotHave) {
  EXPECT_FALSE(adopt("distributed: {}\noptimizer:\n  lr: ${LR}\n  bias_correction: false\n"
                     "  exp_avg_dtype: bf16\n  exp_avg_sq_dtype: float32\n"));
  EXPECT_THAT(said(),
              ElementsAre("3:7: error: 'lr' is not a number of at least 0",
                          "help: variables are not replaced: write the number",
                          "4:20: error: the optimizer always corrects the bias of its moments",
                          "6:21: error: the two moments have different types, bf16 and f32, and a plan has one"));
}

TEST_F(Automodel, SchedulesThatDiffer) {
  std::optional<AdoptedPlan> plan =
      adopt("distributed: {}\nstep_scheduler:\n  max_steps: 100\noptimizer:\n  lr: 1\nlr_scheduler:\n"
            "  lr_decay_style: WSD\n  wsd_decay_steps: 20\n  lr_warmup_steps: 10\n  init_lr: 0.5\n");
  EXPECT_THAT(said(),
              ElementsAre("10:3: warning: 'init_lr' has no effect here",
                          "6:1: warning: lr decays linearly in the last steps: exponential decay is not supported"));
  EXPECT_EQ(plan->notes.back(), "Warmup: step s, counted from 0, takes lr * (s + 1) / 10 here; in Automodel lr "
                                "begins at init_lr, by default lr / 10.");
}
