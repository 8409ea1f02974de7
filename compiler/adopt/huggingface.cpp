//===- huggingface.cpp - the parallel plan of a transformers model --------===//

#include "compiler/adopt/huggingface.h"
#include "llvm/ADT/STLExtras.h"

using namespace meshplan;

/// "'LlamaForCausalLM' in transformers 5.23.0"; the name of the file if it does not name a model.
static std::string ownerOf(const YamlValue &root, const SourceBuffer &source) {
  const YamlEntry *model = root.find("model"), *version = root.find("transformers");
  if (!model || model->value.kind != YamlValue::Kind::scalar)
    return "'" + source.name().str() + "'";
  return "'" + model->value.text + "'" + (version ? " in transformers " + version->value.text : "");
}

static bool isSaid(const YamlEntry *plan) {
  return plan && !plan->value.saysNothing() &&
         !(plan->value.kind == YamlValue::Kind::map && plan->value.entries.empty());
}

std::optional<AdoptedPlan> meshplan::adoptHuggingFace(const SourceBuffer &source, const ModelOutline &model,
                                                      const std::string &axes, Diagnostics &diagnostics) {
  std::optional<YamlValue> root = readYaml(source, diagnostics);
  if (!root)
    return std::nullopt;
  constexpr const char *keys[] = {"base_model_tp_plan", "tp_plan", "base_model_ep_plan", "ep_plan"};
  constexpr const char *otherHelp = "without --from styles are found from the graph";
  if (llvm::none_of(keys, [&](const char *key) { return isSaid(root->find(key)); })) {
    diagnostics
        .error({source.file()}, "the configuration has no parallel plan: 'base_model_tp_plan' and 'tp_plan' "
                                "are not there, or empty")
        .help(otherHelp);
    return std::nullopt;
  }
  ForeignRules rules(model, axes, diagnostics);
  for (const char *key : keys)
    if (const YamlEntry *plan = root->find(key); isSaid(plan))
      rules.take(*plan, llvm::StringRef(key).starts_with("base_model") ? root->find("base_model_prefix") : nullptr);
  AdoptedPlan plan;
  plan.notes.push_back("Styles: the parallel plan of " + ownerOf(*root, source) +
                       "; other modules are replicated there, too.");
  if (rules.finish(plan))
    return plan;
  if (!diagnostics.hasErrors())
    diagnostics.error({source.file()}, "no name of the parallel plan is one of the model").help(otherHelp);
  return std::nullopt;
}
