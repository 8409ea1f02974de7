//===- models.cpp - small models and plans for front end tests ------------===//

#include "test/unit/frontend/models.h"

using namespace meshplan;
using namespace meshplan::test;

namespace {

constexpr int64_t hidden = 576;
constexpr int64_t keyValue = 192;
constexpr int64_t intermediate = 1536;
constexpr int64_t vocabulary = 49152;

/// Adds a module that holds one weight.
size_t addModule(ModelOutline &model, std::string path, std::string className, std::vector<int64_t> shape) {
  size_t module = model.modules.size();
  model.modules.push_back({std::move(path), std::move(className)});
  model.parameters.push_back({{{module, "weight"}}, {module}, std::move(shape), true});
  return module;
}

void addLinear(ModelOutline &model, std::string path, int64_t out, int64_t in) {
  addModule(model, std::move(path), "Linear", {out, in});
}

void addNorm(ModelOutline &model, std::string path) { addModule(model, std::move(path), "RMSNorm", {hidden}); }

void addLayer(ModelOutline &model, const std::string &path) {
  model.modules.push_back({path, "DecoderLayer"});
  model.modules.push_back({path + ".self_attn", "Attention"});
  addLinear(model, path + ".self_attn.q_proj", hidden, hidden);
  addLinear(model, path + ".self_attn.k_proj", keyValue, hidden);
  addLinear(model, path + ".self_attn.v_proj", keyValue, hidden);
  addLinear(model, path + ".self_attn.o_proj", hidden, hidden);
  model.modules.push_back({path + ".mlp", "MLP"});
  addLinear(model, path + ".mlp.gate_proj", intermediate, hidden);
  addLinear(model, path + ".mlp.up_proj", intermediate, hidden);
  addLinear(model, path + ".mlp.down_proj", hidden, intermediate);
  model.modules.push_back({path + ".mlp.act_fn", "SiLU"});
  addNorm(model, path + ".input_layernorm");
  addNorm(model, path + ".post_attention_layernorm");
}

} // namespace

ModelOutline test::llama(size_t layers, bool tied) {
  ModelOutline model;
  model.modules.push_back({"", "LlamaForCausalLM"});
  model.modules.push_back({"model", "LlamaModel"});
  addModule(model, "model.embed_tokens", "Embedding", {vocabulary, hidden});
  for (size_t i = 0; i < layers; ++i)
    addLayer(model, "model.layers." + std::to_string(i));
  addNorm(model, "model.norm");
  model.modules.push_back({"model.rotary_emb", "RotaryEmbedding"});
  if (tied) {
    OutlineParameter &weight = model.parameters.front();
    weight.names.push_back({model.modules.size(), "weight"});
    weight.readers.push_back(model.modules.size());
    model.modules.push_back({"lm_head", "Linear"});
  } else {
    addLinear(model, "lm_head", vocabulary, hidden);
  }
  model.inputs = {{"input_ids", {{4, ""}, {8, ""}}}, {"labels", {{4, ""}, {8, ""}}}};
  model.outputs = {{"loss", {}}, {"logits", {{4, ""}, {8, ""}, {vocabulary, ""}}}};
  return model;
}

std::vector<std::string> test::messagesAndHelps(llvm::ArrayRef<Diagnostic> diagnostics) {
  std::vector<std::string> texts;
  for (const Diagnostic &diagnostic : diagnostics) {
    texts.push_back(diagnostic.message);
    texts.insert(texts.end(), diagnostic.helps.begin(), diagnostic.helps.end());
  }
  return texts;
}

Outcome test::parse(const std::string &plan) {
  Sources sources;
  Diagnostics diagnostics(sources);
  Outcome result;
  result.syntax = parsePlan(sources.add("p.plan", plan), diagnostics);
  result.text = diagnostics.text();
  return result;
}

Outcome test::bindTo(const ModelOutline &model, const std::string &plan, std::vector<Definition> definitions) {
  Sources sources;
  Diagnostics diagnostics(sources);
  Outcome result;
  result.syntax = parsePlan(sources.add("p.plan", plan), diagnostics);
  if (result.syntax)
    result.plan = bindPlan(*result.syntax, model, definitions, diagnostics);
  result.text = diagnostics.text();
  return result;
}
