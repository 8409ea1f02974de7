//===- megatron_test.cpp - the flags of Megatron-LM -----------------------===//

#include "compiler/adopt/megatron/megatron.h"
#include "compiler/adopt/megatron/megatron_flags.h"
#include "test/unit/adopt/adopt_test.h"

using namespace meshplan;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

namespace {

constexpr const char *otherRanks =
    "help: leave it out: the ranks then split the batch, or with '--tensor-model-parallel-size' the weights";

class Megatron : public test::AdoptTest {
protected:
  std::optional<AdoptedPlan> adopt(const std::string &flags) { return adoptMegatron(source(flags), diagnostics); }
  /// The options of a data block, preceded by the sharded kinds of tensors.
  std::vector<std::string> data(const std::string &flags) {
    std::optional<AdoptedPlan> plan = adopt(flags);
    if (!plan)
      return said();
    std::vector<std::string> options = texts(plan->training.data.options);
    options.insert(options.begin(), plan->training.data.shard.text);
    return options;
  }
};

} // namespace

TEST_F(Megatron, WordsAreThoseOfAShell) {
  std::optional<std::vector<FlagWord>> words = splitWords(source("--a 'b c' \\\n  --d=\"e\"f"), diagnostics);
  ASSERT_TRUE(words);
  ASSERT_THAT(*words, SizeIs(3));
  EXPECT_EQ((*words)[1].text, "b c");
  EXPECT_EQ((*words)[2].text, "--d=ef");
  EXPECT_EQ((*words)[2].range, (SourceRange{0, 2, 3, 11}));
  EXPECT_FALSE(splitWords(source("--a 'b"), diagnostics));
  EXPECT_THAT(said(), ElementsAre("1:5: error: the quote is not closed"));
}

TEST_F(Megatron, SizesAndSequences) {
  std::optional<AdoptedPlan> plan = adopt("--tensor-model-parallel-size 2 --sequence-parallel");
  ASSERT_TRUE(plan) << diagnostics.text();
  EXPECT_EQ(plan->mesh.tensor->value, 2);
  EXPECT_FALSE(plan->mesh.data);
  EXPECT_TRUE(plan->sequence);
  EXPECT_FALSE(plan->styles);
  plan = adopt("--sequence-parallel");
  EXPECT_FALSE(plan->sequence);
  EXPECT_EQ(plan->mesh.tensor->value, 1);
  EXPECT_THAT(said(),
              ElementsAre("1:1: warning: '--sequence-parallel' has no effect: '--tensor-model-parallel-size' is 1"));
  plan = adopt("--tensor-model-parallel-size 2 --tensor-model-parallel-size=4 --num-distributed-optimizer-instances 2 "
               "--use-distributed-optimizer");
  EXPECT_EQ(plan->mesh.tensor->value, 4) << "the last one holds";
  EXPECT_EQ(plan->mesh.replicas->value, 2);
}

TEST_F(Megatron, WhatDataParallelRanksShare) {
  EXPECT_THAT(data(""), ElementsAre(""));
  EXPECT_THAT(data("--overlap-grad-reduce"), ElementsAre("", "overlap gradients"));
  EXPECT_THAT(data("--use-distributed-optimizer"), ElementsAre("optimizer", "overlap none"));
  EXPECT_THAT(data("--use-distributed-optimizer --overlap-grad-reduce --overlap-param-gather"),
              ElementsAre("optimizer", "overlap gradients, parameters"));
  EXPECT_THAT(data("--overlap-grad-reduce --overlap-param-gather"), ElementsAre("", "overlap gradients"));
  EXPECT_THAT(data("--use-megatron-fsdp --overlap-grad-reduce --overlap-param-gather"),
              ElementsAre("parameters, gradients, optimizer"));
  EXPECT_THAT(data("--use-megatron-fsdp --data-parallel-sharding-strategy optim_grads --overlap-grad-reduce"),
              ElementsAre("gradients, optimizer", "overlap gradients"));
  EXPECT_THAT(data("--use-torch-fsdp2"), ElementsAre("parameters, gradients, optimizer"));
  EXPECT_THAT(data("--use-distributed-optimizer --overlap-grad-reduce --ddp-bucket-size 40000000 "
                   "--ddp-average-in-collective --use-nccl-ub --optimizer-cpu-offload"),
              ElementsAre("optimizer", "overlap gradients", "bucket 160 MB", "average in collective",
                          "contiguous parameters, gradients", "register buffers", "offload optimizer"));
  EXPECT_THAT(data("--ddp-bucket-size 1048576 --grad-reduce-in-bf16"), ElementsAre("", "bucket 2 MiB"));
  EXPECT_THAT(data("--ddp-bucket-size 256"), ElementsAre("", "bucket 1 KiB"));
  EXPECT_THAT(data("--ddp-bucket-size 250"), ElementsAre("", "bucket 1 KB"));
  EXPECT_THAT(data("--ddp-bucket-size 251"), ElementsAre("", "bucket 1004"));
  EXPECT_THAT(data("--ddp-bucket-size 1000000000000000"), ElementsAre("", "bucket 4000000000 MB"));
  EXPECT_THAT(data("--data-parallel-sharding-strategy some"),
              ElementsAre("1:35: error: 'some' of '--data-parallel-sharding-strategy' is none of no_shard, optim, "
                          "optim_grads, optim_grads_params",
                          "1:1: warning: '--data-parallel-sharding-strategy' has no effect without "
                          "'--use-megatron-fsdp'"));
  adopt("--torch-fsdp2-no-reshard-after-forward --use-megatron-fsdp");
  EXPECT_THAT(said(), ElementsAre("1:1: warning: '--torch-fsdp2-no-reshard-after-forward' has no effect without "
                                  "'--use-torch-fsdp2'"));
  adopt("--num-distributed-optimizer-instances 2");
  EXPECT_THAT(said(), ElementsAre("1:1: warning: '--num-distributed-optimizer-instances' has no effect without "
                                  "'--use-distributed-optimizer'"));
}

TEST_F(Megatron, Precision) {
  std::optional<AdoptedPlan> plan = adopt("--bf16 --accumulate-allreduce-grads-in-fp32 --exp-avg-dtype bf16 "
                                          "--exp-avg-sq-dtype bf16");
  ASSERT_TRUE(plan) << diagnostics.text();
  EXPECT_EQ(plan->training.precision.stored.text, "bf16");
  EXPECT_EQ(plan->training.precision.master.text, "f32");
  EXPECT_EQ(plan->training.precision.reduce.text, "f32");
  EXPECT_EQ(plan->training.precision.state.text, "bf16");
  EXPECT_EQ(adopt("--fp16")->training.precision.lossScale.text,
            "loss_scale dynamic { initial 4294967296; growth 2; backoff 0.5; interval 1000 }");
  EXPECT_EQ(adopt("--fp16 --loss-scale 1024")->training.precision.lossScale.text, "loss_scale 1024");
  EXPECT_EQ(adopt("--fp16 --loss-scale 0")->training.precision.lossScale.text,
            "loss_scale dynamic { initial 4294967296; growth 2; backoff 0.5; interval 1000 }")
      << "0 is none";
  EXPECT_FALSE(adopt("--bf16 --fp16"));
  EXPECT_THAT(said(), ElementsAre("1:8: error: '--fp16' and '--bf16' contradict each other"));
  EXPECT_FALSE(adopt("--exp-avg-dtype bf16"));
  EXPECT_THAT(said(),
              ElementsAre("1:1: error: the two moments have different types, bf16 and fp32, and a plan has one"));
  EXPECT_FALSE(adopt("--exp-avg-dtype fp8 --exp-avg-sq-dtype fp8"));
  EXPECT_THAT(said(),
              ElementsAre("1:1: error: '--exp-avg-dtype fp8' asks for 8-bit numbers, which need a scale for each "
                          "tensor"));
}

TEST_F(Megatron, Recomputation) {
  EXPECT_FALSE(adopt("")->training.recompute);
  EXPECT_EQ(adopt("--recompute-granularity full")->training.recompute->layers, 0);
  EXPECT_EQ(adopt("--recompute-granularity full --recompute-method block --recompute-num-layers 3")
                ->training.recompute->layers,
            3);
  EXPECT_TRUE(
      adopt("--recompute-granularity full --recompute-method uniform --recompute-num-layers 2")->training.recompute);
  EXPECT_THAT(
      said(),
      ElementsAre("1:57: warning: '--recompute-num-layers 2' recomputes several layers together: here each layer "
                  "is recomputed alone"));
  std::optional<AdoptedPlan> plan = adopt("--recompute-activations --recompute-modules core_attn mlp");
  EXPECT_FALSE(plan->training.recompute);
  EXPECT_EQ(plan->notes[1], "'--recompute-activations' of core_attn: attention does not keep its scores here, so there "
                            "is nothing to recompute.");
  EXPECT_THAT(said(), ElementsAre("1:55: warning: 'mlp' of '--recompute-modules' is left out",
                                  "help: 'recompute PATH' names modules of the model"));
}

TEST_F(Megatron, WholeNumbersAreBounded) {
  for (const char *flag : {"ddp-bucket-size", "tensor-model-parallel-size", "global-batch-size", "micro-batch-size"})
    for (const char *number : {"1000000000000001", "9223372036854775807"}) {
      EXPECT_FALSE(adopt(std::string("--") + flag + " " + number));
      ASSERT_FALSE(said().empty()) << flag;
      EXPECT_THAT(said().front(), testing::EndsWith(std::string("error: '") + number + "' of '--" + flag +
                                                    "' is more than 1000000000000000"));
    }
  EXPECT_FALSE(adopt("--lr 1 --train-iters 9223372036854775807"));
  EXPECT_THAT(said(), ElementsAre("1:22: error: '9223372036854775807' of '--train-iters' is more than "
                                  "1000000000000000"));
  EXPECT_FALSE(adopt("--micro-batch-size 9223372036854775808"));
  EXPECT_THAT(said(), ElementsAre("1:20: error: '9223372036854775808' of '--micro-batch-size' is not a whole number "
                                  "of at least 1"));
  for (const char *fraction : {"1.5", "1e300"}) {
    EXPECT_FALSE(adopt(std::string("--lr 1 --train-iters 100 --lr-warmup-fraction ") + fraction));
    EXPECT_THAT(said(), ElementsAre(std::string("1:47: error: '") + fraction +
                                    "' of '--lr-warmup-fraction' is not a number from 0 to 1"));
  }
}

TEST_F(Megatron, BatchAndOptimizer) {
  std::optional<AdoptedPlan> plan = adopt("--micro-batch-size 2 --global-batch-size 16 --lr 3e-4 --min-lr 3e-5 "
                                          "--lr-decay-style cosine --train-iters 100 --lr-warmup-fraction .1 "
                                          "--adam-beta2 0.95 --calculate-per-token-loss");
  ASSERT_TRUE(plan) << diagnostics.text();
  EXPECT_EQ(plan->training.microBatch->value, 2);
  EXPECT_EQ(plan->training.globalBatch->value, 16);
  EXPECT_EQ(plan->training.lossUnit.text, "token");
  EXPECT_EQ(plan->training.optimizer->kind, "adamw");
  EXPECT_THAT(texts(plan->training.optimizer->options),
              ElementsAre("lr 3e-4", "betas (0.9, 0.95)", "eps 1e-8", "weight_decay 0.01",
                          "schedule cosine { warmup 10; steps 100; min 0.1 }"));
  EXPECT_EQ(plan->training.optimizer->options[3].from, "the default of --weight-decay");
  EXPECT_EQ(plan->training.optimizer->vectorsDoNotDecay.text, "weight_decay 0");
  EXPECT_EQ(plan->training.clip.text, "clip_grad_norm 1");
  EXPECT_EQ(plan->training.nonfinite.text, "nonfinite gradients stop");
  plan = adopt("--lr 0.1 --optimizer sgd --sgd-momentum 0.8 --lr-decay-style constant --clip-grad 0 "
               "--no-check-for-nan-in-loss-and-grad");
  EXPECT_EQ(plan->training.optimizer->kind, "sgd");
  EXPECT_THAT(texts(plan->training.optimizer->options), ElementsAre("lr 0.1", "momentum 0.8", "weight_decay 0.01"));
  EXPECT_EQ(plan->training.clip.text, "");
  EXPECT_EQ(plan->training.nonfinite.text, "");
  EXPECT_EQ(adopt("--lr 1 --weight-decay 0")->training.optimizer->vectorsDoNotDecay.text, "") << "nothing decays";
  EXPECT_FALSE(adopt("--optimizer muon --lr 1"));
  EXPECT_THAT(said(),
              ElementsAre("1:13: error: there is no optimizer 'muon' yet", "help: optimizers are adam and sgd"));
  adopt("--lr 1");
  EXPECT_THAT(said(), ElementsAre("1:1: warning: the lr stays constant: a schedule needs the number of steps"));
}

TEST_F(Megatron, FlagsWithoutAnEffect) {
  adopt("--clip-grad 1 --recompute-num-layers 2 --loss-scale 8");
  EXPECT_THAT(
      said(),
      ElementsAre("1:1: warning: '--clip-grad' has no effect without '--lr'",
                  "1:15: warning: '--recompute-num-layers' has no effect without '--recompute-granularity full'",
                  "1:40: warning: '--loss-scale' has no effect without '--fp16'"));
  adopt("--lr 1 --lr-decay-style constant --sgd-momentum 1");
  EXPECT_THAT(said(), ElementsAre("1:34: warning: '--sgd-momentum' has no effect without '--optimizer sgd'"));
  adopt("--lr 1 --lr-decay-style constant --optimizer sgd --adam-eps 1");
  EXPECT_THAT(said(), ElementsAre("1:50: warning: '--adam-eps' has no effect without '--optimizer adam'"));
}

TEST_F(Megatron, WhatPlansDoNotHaveIsRefusedByName) {
  EXPECT_FALSE(adopt("--pipeline-model-parallel-size 4 --context-parallel-size 2"));
  EXPECT_THAT(said(),
              ElementsAre("1:1: error: '--pipeline-model-parallel-size 4' asks for pipelining, for which there is "
                          "no statement yet",
                          otherRanks,
                          "1:34: error: '--context-parallel-size 2' asks for context parallelism, for which there "
                          "is no statement yet",
                          otherRanks));
  EXPECT_FALSE(adopt("--fp8-format hybrid --rampup-batch-size 32 32 1000 --tensor-parallel-num-weight-shards 2"));
  EXPECT_THAT(said(),
              ElementsAre("1:1: error: '--fp8-format hybrid' asks for 8-bit numbers, which need a scale for each "
                          "tensor",
                          "help: leave it out: '--bf16' computes in 16 bits",
                          "1:21: error: '--rampup-batch-size' asks for a batch that grows, and a plan has one "
                          "batch",
                          "help: leave it out: '--global-batch-size' sets the batch size",
                          "1:52: error: '--tensor-parallel-num-weight-shards 2' asks for weights that are gathered "
                          "over tensor ranks, for which there is no statement yet",
                          "help: leave it out: '--use-megatron-fsdp' shards parameters over the data-parallel "
                          "ranks"));
  EXPECT_TRUE(adopt("--pipeline-model-parallel-size 1 --context-parallel-size 1"));
}

TEST_F(Megatron, GroupsOfExpertsAreNamed) {
  auto noteOf = [&](const std::string &flags) {
    auto plan = adopt(flags);
    EXPECT_THAT(said(), ElementsAre());
    for (const std::string &note : plan ? plan->notes : std::vector<std::string>())
      if (note.starts_with("Experts"))
        return note;
    return std::string();
  };
  EXPECT_EQ(noteOf("--expert-model-parallel-size 1"), "");
  EXPECT_EQ(noteOf("--tensor-model-parallel-size 2 --expert-model-parallel-size 1 --expert-tensor-parallel-size 1"),
            "");
  EXPECT_EQ(
      noteOf("--expert-model-parallel-size 8"),
      "Experts are drafted over all axes: for '--expert-model-parallel-size 8' write 'fold (dp) as (edp = N, ep = "
      "8)' and 'expert ep'.");
  // What is inside experts is divided as other weights are, where nothing else is said.
  EXPECT_EQ(
      noteOf("--tensor-model-parallel-size 2 --expert-model-parallel-size 8"),
      "Experts are drafted over all axes: for '--expert-model-parallel-size 8' write 'fold (dp) as (edp = N, ep = "
      "8)' and 'expert ep'; 'within tp' divides what is inside them, as '--expert-tensor-parallel-size 2' does.");
  EXPECT_EQ(noteOf("--tensor-model-parallel-size 4 --expert-tensor-parallel-size 4"),
            "Experts are drafted over all axes: 'within tp' divides what is inside them, as "
            "'--expert-tensor-parallel-size 4' does.");
  EXPECT_FALSE(adopt("--expert-model-parallel-size few"));
  EXPECT_THAT(said(), ElementsAre("1:30: error: 'few' of '--expert-model-parallel-size' is not a whole number of at "
                                  "least 1"));
}

TEST_F(Megatron, StatementsAboutTokensOfExperts) {
  auto plan = adopt("--moe-expert-capacity-factor 1.5 --moe-router-enable-expert-bias "
                    "--moe-router-bias-update-rate 0.01 --overlap-moe-expert-parallel-comm");
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->training.capacity.text, "capacity 1.5");
  EXPECT_EQ(plan->training.capacity.from, "--moe-expert-capacity-factor");
  EXPECT_EQ(plan->training.balance.text, "balance bias 0.01");
  EXPECT_EQ(plan->training.halves.text, "overlap { halves }");
  EXPECT_THAT(said(),
              ElementsAre("1:1: warning: 'capacity 1.5' counts the tokens of each sample and drops the last "
                          "ones: Megatron-LM counts those of a rank, and drops those of the lowest probability"));
  plan = adopt("--moe-expert-capacity-factor 2 --moe-token-drop-policy position --moe-router-enable-expert-bias");
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->training.balance.text, "balance bias 0.001");
  EXPECT_THAT(said(), ElementsAre("1:1: warning: 'capacity 2' counts the tokens of each sample, and Megatron-LM those "
                                  "of a rank"));
  plan = adopt("--moe-expert-capacity-factor -1");
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->training.capacity.text, "");
  EXPECT_FALSE(adopt("--moe-expert-capacity-factor 0"));
  EXPECT_THAT(said(), ElementsAre("1:30: error: '--moe-expert-capacity-factor' is not above 0"));
  adopt("--moe-token-drop-policy probs --moe-router-bias-update-rate 1e-3");
  EXPECT_THAT(
      said(),
      ElementsAre("1:1: warning: '--moe-token-drop-policy' has no effect without '--moe-expert-capacity-factor'",
                  "1:31: warning: '--moe-router-bias-update-rate' has no effect without "
                  "'--moe-router-enable-expert-bias'"));
}

TEST_F(Megatron, FlagsOfMixturesAreListed) {
  auto plan = adopt("--num-experts 8 --moe-router-topk 2 --moe-router-load-balancing-type aux_loss "
                    "--moe-aux-loss-coeff 1e-2 --moe-z-loss-coeff 1e-3 --moe-grouped-gemm --moe-shared-expert-overlap "
                    "--moe-token-dispatcher-type alltoall --moe-pad-expert-input-to-capacity --moe-per-layer-logging");
  ASSERT_TRUE(plan);
  EXPECT_THAT(said(), ElementsAre());
  EXPECT_THAT(
      plan->notes,
      testing::IsSupersetOf(
          {"Of the model, as it was exported: --num-experts, --moe-router-topk, "
           "--moe-router-load-balancing-type, --moe-aux-loss-coeff, --moe-z-loss-coeff.",
           "Always so here: --moe-grouped-gemm, --moe-shared-expert-overlap.",
           "Without a counterpart, and left out: --moe-token-dispatcher-type, --moe-pad-expert-input-to-capacity.",
           "Without effect on a plan: --moe-per-layer-logging."}));
}

TEST_F(Megatron, LayoutStringsAreChecked) {
  EXPECT_FALSE(
      adopt("--num-layers 5 --pipeline-model-parallel-size 2 --pipeline-model-parallel-layout \"Et*3|(t|)*2,L\""));
  EXPECT_THAT(said(),
              ElementsAre("1:16: error: '--pipeline-model-parallel-size 2' asks for pipelining, for which there is "
                          "no statement yet",
                          otherRanks,
                          "1:49: error: '--pipeline-model-parallel-layout Et*3|(t|)*2,L' asks for pipelining, for "
                          "which there is no statement yet",
                          otherRanks))
      << "well formed: 4 stages";
  adopt("--num-layers 4 --pipeline-model-parallel-size 3 --pipeline-model-parallel-layout \"Et*3|(t|)*2,L\"");
  ASSERT_THAT(said(), SizeIs(6));
  EXPECT_EQ(said()[2], "1:82: error: pipeline layout: 4 stages for 3 ranks of '--pipeline-model-parallel-size'");
  EXPECT_EQ(said()[3], "1:82: error: pipeline layout: 5 layers t, and '--num-layers' is 4");
  adopt("--pipeline-model-parallel-layout=\"Etx|L\"");
  EXPECT_EQ(said()[0],
            "1:37: error: pipeline layout: 'x' is not a layer: layers are E, t, m and L, and '|' ends a stage");
}

TEST_F(Megatron, FlagsThatNobodyKnows) {
  EXPECT_FALSE(adopt("--tensor-parallel-size 2"));
  EXPECT_THAT(said(), ElementsAre("1:1: error: Megatron has no flag '--tensor-parallel-size'",
                                  "help: did you mean '--tensor-model-parallel-size'?"));
  EXPECT_FALSE(adopt("--use-distributed-optimiser"));
  EXPECT_THAT(said(), ElementsAre("1:1: error: Megatron has no flag '--use-distributed-optimiser'",
                                  "help: did you mean '--use-distributed-optimizer'?"));
  EXPECT_FALSE(adopt("--quux"));
  EXPECT_THAT(said(), ElementsAre("1:1: error: Megatron has no flag '--quux'",
                                  "help: flags are written out: abbreviations are not read"));
  EXPECT_FALSE(adopt("2 --bf16"));
  EXPECT_THAT(said(), ElementsAre("1:1: error: '2' is not a flag: flags begin with '--'"));
}

TEST_F(Megatron, ValuesAreChecked) {
  EXPECT_FALSE(adopt("--tensor-model-parallel-size --bf16"));
  EXPECT_THAT(said(), ElementsAre("1:1: error: '--tensor-model-parallel-size' needs a value"));
  EXPECT_FALSE(adopt("--tensor-model-parallel-size 2 3"));
  EXPECT_THAT(said(), ElementsAre("1:32: error: '--tensor-model-parallel-size' takes one value"));
  EXPECT_FALSE(adopt("--bf16 true"));
  EXPECT_THAT(said(), ElementsAre("1:8: error: '--bf16' takes no value"));
  EXPECT_FALSE(adopt("--tensor-model-parallel-size $TP"));
  EXPECT_THAT(said(),
              ElementsAre("1:30: error: '$TP' of '--tensor-model-parallel-size' is not a whole number of at least 1",
                          "help: the variable was not replaced: write the number, or use double quotes, in "
                          "which the shell replaces it"));
  EXPECT_FALSE(adopt("--lr x --train-iters 10"));
  EXPECT_THAT(said(), testing::Contains("1:6: error: 'x' of '--lr' is not a number of at least 0"));
}

TEST_F(Megatron, OtherFlagsGetANote) {
  std::optional<AdoptedPlan> plan =
      adopt("--num-layers 2 --tp-comm-overlap --hidden-size 64 --no-masked-softmax-fusion --log-interval 10 "
            "--context-parallel-size 1 --log-interval 20");
  ASSERT_TRUE(plan) << diagnostics.text();
  EXPECT_THAT(plan->notes, ElementsAre("Sizes and numbers: the flags of Megatron-LM; styles: the graph of the model.",
                                       "Without a counterpart, and left out: --tp-comm-overlap.",
                                       "Without effect on a plan: --num-layers, --hidden-size, "
                                       "--no-masked-softmax-fusion, --log-interval, --context-parallel-size."));
  EXPECT_THAT(said(), IsEmpty());
}

TEST_F(Megatron, SchedulesInSamples) {
  std::optional<AdoptedPlan> plan = adopt(
      "--global-batch-size 128 --train-samples 1953125000 --lr-decay-samples 1949218748 --lr-warmup-samples 3906252 "
      "--lr 0.0001 --min-lr 0.00001 --lr-decay-style cosine");
  ASSERT_TRUE(plan) << diagnostics.text();
  EXPECT_THAT(said(), IsEmpty());
  EXPECT_EQ(plan->training.optimizer->options.back().text, "schedule cosine { warmup 30517; steps 15228271; min 0.1 }");
  EXPECT_THAT(plan->notes,
              ElementsAre(testing::_,
                          "--lr-decay-samples 1949218748 / --global-batch-size 128 is rounded down to 15228271 steps.",
                          "--lr-warmup-samples 3906252 / --global-batch-size 128 is rounded down to 30517 steps.",
                          "Warmup: step s, counted from 0, takes lr * (s + 1) / 30517 here, and lr * s / 30517 in "
                          "Megatron-LM."));
  plan = adopt("--global-batch-size 8 --train-samples 800 --lr 1 --lr-warmup-fraction 0.1");
  EXPECT_EQ(plan->training.optimizer->options.back().text, "schedule linear { warmup 10; steps 100 }");
  EXPECT_EQ(plan->training.optimizer->options.back().from, "--train-samples");
  EXPECT_EQ(plan->notes[1], "--train-samples 800 / --global-batch-size 8 is 100 steps.");
  EXPECT_FALSE(adopt("--train-samples 800 --lr 1"));
  EXPECT_THAT(said(), ElementsAre("1:1: error: '--train-samples' needs '--global-batch-size': a plan counts steps",
                                  "help: without it, a step of Megatron has one microbatch on each "
                                  "data-parallel rank"));
  EXPECT_FALSE(adopt("--global-batch-size 8 --train-samples 7 --lr 1"));
  EXPECT_THAT(said(), ElementsAre("1:39: error: --train-samples 7 / --global-batch-size 8 is less than a step"));
  EXPECT_FALSE(adopt("--global-batch-size 8 --train-iters 9 --lr-decay-samples 80 --lr 1"));
  EXPECT_THAT(said(), ElementsAre("1:39: error: '--lr-decay-samples' and '--train-iters' contradict each other: "
                                  "Megatron counts iterations or samples"));
}

TEST_F(Megatron, SchedulesThatPlansDoNotHave) {
  std::optional<AdoptedPlan> plan = adopt("--lr 1 --train-iters 10 --lr-decay-style inverse-square-root");
  EXPECT_THAT(said(),
              ElementsAre("1:25: warning: the lr stays constant: 'inverse-square-root' is not a schedule of the "
                          "language: use constant, linear, cosine or wsd"));
  EXPECT_EQ(plan->training.optimizer->options.front().from,
            "--lr; stays constant: 'inverse-square-root' is not a schedule of the language: use constant, linear, "
            "cosine or wsd");
  plan = adopt("--lr 1 --train-iters 10 --weight-decay-incr-style cosine --start-weight-decay 0.01 "
               "--end-weight-decay 0.1");
  EXPECT_THAT(said(),
              ElementsAre("1:25: warning: the weight decay is 0.1 from the first step on, and does not grow from "
                          "0.01: there is no '--weight-decay-incr-style cosine' here"));
  EXPECT_EQ(plan->training.optimizer->options[3].text, "weight_decay 0.1");
  EXPECT_EQ(plan->training.optimizer->options[3].from, "--end-weight-decay; in Megatron-LM it grows from 0.01");
  adopt("--lr 1 --train-iters 10 --end-weight-decay 0.1");
  EXPECT_THAT(said(), ElementsAre("1:25: warning: '--end-weight-decay' has no effect without "
                                  "'--weight-decay-incr-style'"));
  adopt("--lr 1 --train-iters 100 --lr-decay-style WSD --lr-wsd-decay-iters 20 --lr-warmup-iters 10 --lr-warmup-init "
        "0.1");
  EXPECT_THAT(said(), ElementsAre("1:26: warning: lr decays linearly in the last steps: '--lr-wsd-decay-style "
                                  "exponential' is not supported",
                                  "1:92: warning: '--lr-warmup-init' is left out: the warmup begins at lr / 10"));
  plan = adopt("--lr 1 --lr-decay-style constant --train-iters 100 --lr-warmup-fraction 0.1");
  EXPECT_EQ(plan->training.optimizer->options.back().text, "schedule constant { warmup 10 }");
  adopt("--lr 1 --lr-decay-style constant --lr-warmup-fraction 0.1");
  EXPECT_THAT(said(), ElementsAre("1:34: warning: '--lr-warmup-fraction' is left out: it needs the number of steps"));
  plan = adopt("--decoupled-lr 0.1 --decoupled-lr 0.2");
  EXPECT_THAT(said(), ElementsAre("1:20: warning: '--decoupled-lr' is left out, and changes the numbers of the "
                                  "training"));
  EXPECT_EQ(plan->notes.back(), "Left out, and changes the training: --decoupled-lr.");
}
