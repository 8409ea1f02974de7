//===- mutations_test.cpp - damaged files of other frameworks -------------===//

#include "compiler/adopt/automodel.h"
#include "compiler/adopt/huggingface.h"
#include "compiler/adopt/megatron/megatron.h"
#include "test/unit/adopt/adopt_test.h"
#include <random>

using namespace meshplan;

namespace {

constexpr const char *recipe = R"(# comment
recipe: Train
step_scheduler: &steps
  global_batch_size: 8
  local_batch_size: 2
  max_steps: 100
distributed:
  strategy: megatron_fsdp
  dp_size: none
  tp_size: 2
  tp_plan: {"lm_head": colwise_rep, 'model.layers.*.self_attn.q_proj': colwise}
  mp_policy:
    param_dtype: bfloat16
  activation_checkpointing: |
    full
optimizer:
  _target_: torch.optim.AdamW
  lr: 1.0e-5
  betas: [0.9, 0.95]
freeze_config: {freeze_embeddings: true, freeze_language_model: false}
clip_grad_norm:
  max_norm: 1.0
  norm_type: inf
peft: {dim: 8}
lr_scheduler: {lr_decay_style: cosine, lr_warmup_steps: 5}
other: *steps
)";

constexpr const char *configuration = R"({
 "base_model_prefix": "model", "x": [1, {"y": null}],
 "base_model_tp_plan": {"layers.*.self_attn.q_proj": "colwise", "layers.*.mlp.experts.down_proj": "rowwise"},
 "ep_plan": {"model.layers.*.mlp.experts": "grouped_gemm"}
})";

constexpr const char *flags = "--tensor-model-parallel-size 2 --sequence-parallel --lr=3e-4 \\\n --train-iters '100' "
                              "--pipeline-model-parallel-layout \"Et*3|(t|)*2,L\" --recompute-modules core_attn mlp "
                              "--weight-decay-incr-style cosine --end-weight-decay 0.1 --lr-warmup-samples 80 "
                              "--global-batch-size 8";

/// The text with a few bytes deleted, duplicated, swapped or replaced.
std::string damaged(std::string text, std::mt19937 &random) {
  auto below = [&](size_t bound) { return random() % bound; };
  constexpr llvm::StringRef signs = "{}[]():,*&|>-?#\"'\\\n\t %!@`=~<0aE.\x80\xc3";
  for (size_t count = 1 + below(4); count > 0 && !text.empty(); --count) {
    size_t at = below(text.size()), length = 1 + below(std::min<size_t>(8, text.size() - at));
    switch (below(4)) {
    case 0:
      text.erase(at, length);
      break;
    case 1:
      text.insert(at, text.substr(at, length));
      break;
    case 2:
      text[at] = signs[below(signs.size())];
      break;
    default:
      text = text.substr(at) + text.substr(0, at);
    }
  }
  return text;
}

class Mutations : public test::AdoptTest {
protected:
  /// A rejected text has a reason, and a text with a reason is rejected.
  template <typename Adopt> void run(const char *text, Adopt adopt) {
    constexpr int cases = 3000;
    std::mt19937 random(1);
    for (int index = 0; index < cases; ++index) {
      Sources own;
      Diagnostics reported(own);
      std::string mutated = damaged(text, random);
      bool isThere = adopt(own.add("f", mutated), reported).has_value();
      ASSERT_EQ(isThere, !reported.hasErrors()) << mutated;
      (void)reported.text();
    }
  }
  ModelOutline model = test::mixture();
};

} // namespace

TEST_F(Mutations, OfRecipes) {
  run(recipe,
      [&](const SourceBuffer &source, Diagnostics &reported) { return adoptAutomodel(source, model, "tp", reported); });
}

TEST_F(Mutations, OfConfigurations) {
  run(configuration, [&](const SourceBuffer &source, Diagnostics &reported) {
    return adoptHuggingFace(source, model, "tp", reported);
  });
}

TEST_F(Mutations, OfFlags) {
  run(flags, [&](const SourceBuffer &source, Diagnostics &reported) { return adoptMegatron(source, reported); });
}
