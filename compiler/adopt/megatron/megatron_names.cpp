//===- megatron_names.cpp - a rule for each flag of Megatron-LM -----------===//
// Every flag of Megatron-LM has a row that says whether it is translated, has no effect on a plan, or is refused and
// why. A flag without a row is an error: it may change the training.
//
//===----------------------------------------------------------------------===//

#include "compiler/adopt/megatron/megatron_flags.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace meshplan;
using llvm::StringRef;
using Kind = FlagRule::Kind;

namespace {

struct NamedRule {
  StringRef name;
  FlagRule rule;
};

/// Why a flag is refused, and the help.
struct Refusal {
  StringRef why, help;
};

constexpr StringRef otherRanks =
    "leave it out: the ranks then split the batch, or with '--tensor-model-parallel-size' the weights";
constexpr Refusal pipeline = {"pipelining, for which there is no statement yet", otherRanks},
                  context = {"context parallelism, for which there is no statement yet", otherRanks},
                  eightBits = {"8-bit numbers, which need a scale for each tensor",
                               "leave it out: '--bf16' computes in 16 bits"},
                  weightShards = {"weights that are gathered over tensor ranks, for which there is no statement yet",
                                  "leave it out: '--use-megatron-fsdp' shards parameters over the "
                                  "data-parallel ranks"},
                  growing = {"a batch that grows, and a plan has one batch",
                             "leave it out: '--global-batch-size' sets the batch size"};

constexpr FlagRule refused(int values, Refusal why) { return {Kind::refused, values, why.why, why.help}; }

/// Names of flags that become statements of a plan: without a value, with one, and with several.
constexpr StringRef taken =
    "sequence-parallel use-distributed-optimizer use-megatron-fsdp use-torch-fsdp2 "
    "torch-fsdp2-no-reshard-after-forward overlap-grad-reduce overlap-param-gather ddp-average-in-collective "
    "use-nccl-ub optimizer-cpu-offload accumulate-allreduce-grads-in-fp32 grad-reduce-in-bf16 bf16 fp16 "
    "recompute-activations calculate-per-token-loss no-check-for-nan-in-loss-and-grad "
    "moe-router-enable-expert-bias overlap-moe-expert-parallel-comm";
constexpr StringRef takenWithValue =
    "tensor-model-parallel-size data-parallel-sharding-strategy num-distributed-optimizer-instances "
    "ddp-bucket-size loss-scale initial-loss-scale loss-scale-window exp-avg-dtype exp-avg-sq-dtype "
    "recompute-granularity recompute-method recompute-num-layers micro-batch-size global-batch-size optimizer lr "
    "min-lr lr-decay-style lr-decay-iters lr-warmup-iters lr-warmup-fraction lr-wsd-decay-iters lr-decay-samples "
    "lr-warmup-samples lr-wsd-decay-samples lr-wsd-decay-style lr-warmup-init train-iters train-samples "
    "weight-decay weight-decay-incr-style start-weight-decay end-weight-decay clip-grad adam-beta1 adam-beta2 "
    "adam-eps sgd-momentum num-layers expert-model-parallel-size expert-tensor-parallel-size "
    "moe-expert-capacity-factor moe-token-drop-policy moe-router-bias-update-rate";
constexpr StringRef takenWithValues = "recompute-modules";

const NamedRule refusals[] = {
    {"pipeline-model-parallel-size", refused(1, pipeline)},
    {"pipeline-model-parallel-layout", refused(1, pipeline)},
    {"num-layers-per-virtual-pipeline-stage", refused(1, pipeline)},
    {"num-virtual-stages-per-pipeline-rank", refused(1, pipeline)},
    {"decoder-first-pipeline-num-layers", refused(1, pipeline)},
    {"decoder-last-pipeline-num-layers", refused(1, pipeline)},
    {"account-for-embedding-in-pipeline-split", refused(0, pipeline)},
    {"account-for-loss-in-pipeline-split", refused(0, pipeline)},
    {"context-parallel-size", refused(1, context)},
    {"hierarchical-context-parallel-sizes", refused(-1, context)},
    {"hybrid-context-parallel", refused(0, context)},
    {"tensor-parallel-num-weight-shards", refused(1, weightShards)},
    {"expert-tensor-parallel-num-weight-shards", refused(1, weightShards)},
    {"fp8-format", refused(1, eightBits)},
    {"fp4-format", refused(1, eightBits)},
    {"rampup-batch-size", refused(-1, growing)},
    {"step-batch-size-schedule", refused(-1, growing)},
};

/// Names, or prefixes of names, about parallelism, precision and recompute that have no effect on a plan.
constexpr StringRef withoutWords =
    "tp-comm- overlap-p2p-communication "
    "overlap-dispatch-backward-with-experts-wgrad overlap-param-gather-with-optimizer-step "
    "overlap-cpu-optimizer-d2h-h2d ddp-num-buckets ddp-pad-buckets-for-high-nccl-busbw "
    "ddp-reduce-scatter-with-fp32-accumulation ddp-param-name-patterns-for-fp32-local-accumulation "
    "align-param-gather align-grad-reduce gradient-reduce-div-fusion use-layer-wise-param-layout "
    "symmetric-registration gtp- fsdp- megatron-fsdp- outer-dp-sharding-strategy enable-full-sharding-in-hsdp "
    "create-all-gather-group suggested-communication-unit-size keep-fp8-transpose-cache cp-comm-type "
    "distribute-saved-activations distributed-backend pipeline-model-parallel-comm-backend "
    "microbatch-group-size-per-virtual-pipeline-stage use-tp-pp-dp-mapping use-sharp sharp-enabled-group "
    "high-priority- nccl- use-ring-exchange-p2p gloo-process-groups fp8- fp4- "
    "use-precision-aware-optimizer attention-softmax-in-fp32 "
    "fp16-lm-cross-entropy num-layers-at- "
    "optimizer-offload-fraction optimizer-cuda-graph use-torch-optimizer-for-cpu-offload pin-cpu- "
    "cpu-offloading- fine-grained- offload-modules min-offloaded-tensor-size delay- "
    "defer-embedding-wgrad-compute wgrad-deferral-limit gradient-accumulation-fusion check-for- "
    "moe-layer-recompute mhc-recompute-layer-num moe-pad-expert-input-to-capacity moe-token-dispatcher-type";

/// Names about the layers of a mixture of experts and its losses, which the exported graph has.
constexpr StringRef ofModel =
    "num-experts moe-router-load-balancing-type moe-router-topk moe-router-score-function moe-router-num-groups "
    "moe-router-group-topk moe-router-pre-softmax moe-router-dtype moe-aux-loss-coeff moe-z-loss-coeff "
    "moe-input-jitter-eps moe-layer-freq moe-ffn-hidden-size moe-shared-expert-intermediate-size";

/// What the experts of every plan do.
constexpr StringRef always = "moe-grouped-gemm moe-permute-fusion moe-shared-expert-overlap";

/// Names about the optimizer and numerics that the language cannot express.
constexpr StringRef changingNumbers =
    "decoupled- hysteresis min-loss-scale main-grads-dtype main-params-dtype fp32-residual-connection "
    "first-last-layers-bf16 lr-warmup-steps lr-decay-steps wsd-decay-steps bf16-reduced-precision-matmul "
    "apply-wd-to-qk-layernorm no-weight-decay-cond-type weight-decay-cond-type muon- lion- freeze-all-layers";

/// Names about the model, its data, its checkpoints and the run.
constexpr StringRef outside =
    "activation- add- adlr- allow- app-tag- apply- async- attention- auto-detect- barrier- batch- bert- bias- "
    "biencoder- block-data- cache- calc-ft- chat-template check-weight- ckpt- classes- clone- config-logger- "
    "create-attention- cross-entropy- cuda-graph- data-args- data-cache- data-parallel-random-init data-path "
    "data-per-class- data-sharding dataloader- decode- decoder- decrease- delta-offload- deterministic- dino- "
    "dist-ckpt- distrib-optim- distributed-timeout- dsa- dump-param- embedding- empty-unused- enable- encoder- "
    "eod-mask- ep-overlap- error-injection- eval- evidence- exit- experimental- external-cuda- fake-process- "
    "ffn- filter-warnings fim- finetune flash- flight-recorder- ft- full-validation fused- gdp- glu- gpu-sniff- "
    "group-query-attention grpo- head-lr- heterogeneous- hidden- hybrid- ict- img- indexer- inference- init- "
    "initialization inprocess- is-hybrid- iter-per- iterations-to- jit-fuser kitchen- kv- langrl- lazy- linear- "
    "load local-rank log- logging- logits- make-vocab- mamba- manual-gc mask- masked- max- memory- merge-file "
    "mhc- mid-level- mla- mlp- mmap- mock-data modules-to- moe- most-recent- mrope- msc mscale mtp- "
    "multi-latent- multiple- mup- non-persistent- norm-epsilon normalization null-tokenizer- num-attention- "
    "num-channels num-classes num-dataset- num-experts num-query- num-speculative- num-workers nvtx- "
    "object-storage- one-logger onnx- openai-gelu otel- output- override- pad-vocab- padded-vocab- patch- "
    "per-dataset- per-split- perform-rl- persist- persistent- phase-transition- position- pretrained- profile "
    "pytorch-profiler- q-lora- qk- query-in- quick-geglu record- refit- relative-attention- replication rerun- "
    "reset- result-rejected- retriever- reuse-grad-buf- rl- rope- rotary- run-workload- runtime- sample-rate "
    "save seed seq-length set-level- sft short-seq- skip-train softmax- spec split squared-relu start-eval- "
    "straggler- strict-fsdp- swiglu swin- symmetric-ar- te- tensorboard- test- throughput- tiktoken- timing- "
    "titles- tokenizer- train-data- train-sync- transformer-impl trust- untie- use-checkpoint- "
    "use-cpu- use-dist-ckpt use-flash- use-fused- use-gigatoken use-grouped- use-kitchen- use-legacy- use-mcore- "
    "use-mp-args- use-mup use-one-sent- use-persistent- use-pytorch- use-rope- use-rotary- use-same- use-te- "
    "use-tokenizer- use-transformer- v-head- valid validation- verify- vision- vocab- wandb- wd- window- "
    "yaml-cfg yarn-";

/// True if one of the names is this name, or a prefix of it up to a dash.
bool isOneOf(StringRef name, StringRef names) {
  return llvm::any_of(llvm::split(names, ' '), [&](StringRef known) {
    return name.starts_with(known) &&
           (name.size() == known.size() || known.ends_with("-") || name[known.size()] == '-');
  });
}

} // namespace

const std::vector<std::string> &meshplan::knownFlags() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (StringRef list : {taken, takenWithValue, takenWithValues})
      for (StringRef name : llvm::split(list, ' '))
        all.push_back("--" + name.str());
    for (const NamedRule &rule : refusals)
      all.push_back("--" + rule.name.str());
    return all;
  }();
  return names;
}

std::optional<FlagRule> meshplan::ruleOf(StringRef name) {
  for (auto [values, list] : {std::pair(0, taken), std::pair(1, takenWithValue), std::pair(-1, takenWithValues)})
    if (llvm::is_contained(llvm::split(list, ' '), name))
      return FlagRule{Kind::taken, values, "", ""};
  auto found = llvm::find_if(refusals, [&](const NamedRule &rule) { return rule.name == name; });
  if (found != std::end(refusals))
    return found->rule;
  // Options that are on by default are turned off by "--no-NAME" or "--disable-NAME", and concern the same subject.
  StringRef positive = name;
  if (!positive.consume_front("no-"))
    positive.consume_front("disable-");
  // The lists are tried from the most harmful one to the most harmless: a name that could be in two of them must not be
  // passed over in silence.
  for (StringRef each : {name, positive}) {
    if (isOneOf(each, changingNumbers))
      return FlagRule{Kind::changing, -1, "", ""};
    if (isOneOf(each, withoutWords))
      return FlagRule{Kind::no_words, -1, "", ""};
    if (isOneOf(each, ofModel))
      return FlagRule{Kind::model, -1, "", ""};
    if (isOneOf(each, always))
      return FlagRule{Kind::always, -1, "", ""};
    if (isOneOf(each, outside))
      return FlagRule{Kind::outside, -1, "", ""};
  }
  return std::nullopt;
}
