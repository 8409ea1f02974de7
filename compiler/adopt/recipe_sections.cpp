//===- recipe_sections.cpp - the other sections of a recipe ---------------===//
// Sections of a recipe are of three kinds: those that are read, those about data, files and the run, which are ignored,
// and those that may change the training, which are left out with a warning. So are unknown ones, unless they look
// misspelt.
//
//===----------------------------------------------------------------------===//

#include "compiler/adopt/recipe_sections.h"
#include "compiler/adopt/recipe_reader.h"
#include "compiler/support/nearest.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace meshplan;
using llvm::StringRef;

namespace {

/// Sections that are read elsewhere, or below.
constexpr StringRef readSections = "distributed model step_scheduler optimizer lr_scheduler clip_grad_norm "
                                   "max_grad_norm fp8 compile peft freeze_config quantization loss_fn";

/// Sections about the data, the checkpoints and the run: they cannot change what a step computes from its samples.
constexpr StringRef outsideSections =
    "recipe recipe_args dist_env checkpoint dataset datasets data dataloader validation_dataset validation_dataloader "
    "packed_sequence seed rng ci wandb mlflow comet processor tokenizer benchmark output inference performance nvtx "
    "skypilot slurm moe_metrics prewarm tool_call_eval mfu sdpa_method logging autopipeline parallelizer";

/// Other sections of Automodel's recipes. They may change the training.
constexpr StringRef changingSections =
    "qat neftune ema mtp autocast dllm dflash flow_matching vae teacher_model teacher_distributed "
    "offload_teacher_model kd_ratio kd_loss_fn temperature nce_distill_loss_weight mse_loss_weight mse_loss mining "
    "longalign infonce_distill_loss embedding_row_repair distill_loss distill_loss_weight separate_meshes fsdp ddp "
    "distributed_config";

/// Losses of tokens that do not count ignored tokens, like those that causal models compute themselves.
constexpr StringRef usualLosses =
    "MaskedCrossEntropy FusedLinearCrossEntropy ChunkedCrossEntropy TEParallelCrossEntropy";

bool isIn(StringRef names, StringRef name) { return llvm::is_contained(llvm::split(names, ' '), name); }

class SectionReader {
public:
  SectionReader(const ModelOutline &model, AdoptedPlan &plan, Diagnostics &diagnostics)
      : model(model), plan(plan), diagnostics(diagnostics), reader(diagnostics) {}

  void read(const YamlValue &recipe);

private:
  void readSection(const YamlEntry &section);
  void readUnknown(const YamlEntry &section);
  void readLoss(const YamlEntry &section);
  void readPeft(const YamlEntry &section);
  void readFrozen(const YamlEntry &section);
  void freeze(const std::string &from, llvm::function_ref<bool(const OutlineModule &)> matches, const YamlEntry *option,
              const std::string &what);
  void freezeNamed(llvm::ArrayRef<StringRef> parts, const std::string &from, const YamlEntry *option);
  Diagnostic &leaveOut(const YamlEntry &section, const std::string &why);

  const ModelOutline &model;
  AdoptedPlan &plan;
  Diagnostics &diagnostics;
  RecipeReader reader;
  std::vector<std::string> outside, leftOut;
};

} // namespace

Diagnostic &SectionReader::leaveOut(const YamlEntry &section, const std::string &why) {
  leftOut.push_back(reader.fromOf(section));
  return diagnostics.warning(section.keyRange, "'" + section.key + "' is left out: " + why);
}

static std::vector<std::string> knownSections() {
  std::vector<std::string> names;
  for (StringRef list : {readSections, outsideSections, changingSections})
    for (StringRef name : llvm::split(list, ' '))
      names.push_back(name.str());
  return names;
}

void SectionReader::readUnknown(const YamlEntry &section) {
  std::vector<std::string> near = nearestNames(section.key, knownSections(), 1);
  if (near.empty()) {
    leaveOut(section, "it is an unknown section, which may change the training");
    return;
  }
  diagnostics.error(section.keyRange, "unknown section '" + section.key + "'")
      .help("did you mean '" + near.front() + "'?");
}

void SectionReader::readLoss(const YamlEntry &section) {
  const YamlEntry *target = section.value.find("_target_");
  std::optional<std::string> name = target ? reader.lastName(*target) : std::nullopt;
  if (name && !isIn(usualLosses, *name))
    leaveOut(section, "the loss is the one that the model of the archive computes");
  else
    outside.push_back(section.key);
}

/// PEFT and Automodel both name the parameters of adapters lora_A, lora_B and so on.
static bool isAdapter(const ModelOutline &model, const OutlineParameter &parameter) {
  return llvm::any_of(parameter.names, [&](const OutlineParameterName &name) {
    return StringRef(name.leaf).contains("lora_") || StringRef(model.modules[name.module].path).contains("lora_");
  });
}

void SectionReader::readPeft(const YamlEntry &section) {
  bool adapts = llvm::any_of(model.parameters, [&](const OutlineParameter &parameter) {
    return parameter.requiresGrad && isAdapter(model, parameter);
  });
  bool freezes =
      llvm::any_of(model.parameters, [](const OutlineParameter &parameter) { return !parameter.requiresGrad; });
  if (adapts && freezes)
    return;
  leaveOut(section, adapts ? "the archive has adapters, and freezes nothing beside them"
                           : "the archive has no adapters, so that all its parameters are trained")
      .help("tools/export_model.py and 'python -m meshplan.export' add adapters and freeze the rest: --lora MODULES");
}

/// The shortest prefix of the path whose module matches: a module may be frozen because its parent's name matches.
static StringRef shortestPath(const ModelOutline &model, StringRef path,
                              llvm::function_ref<bool(const OutlineModule &)> matches) {
  for (size_t end = path.find('.'); end != StringRef::npos; end = path.find('.', end + 1))
    for (const OutlineModule &module : model.modules)
      if (module.path == path.take_front(end) && matches(module))
        return module.path;
  return path;
}

void SectionReader::freeze(const std::string &from, llvm::function_ref<bool(const OutlineModule &)> matches,
                           const YamlEntry *option, const std::string &what) {
  AdoptedFreeze frozen{{}, from};
  bool names = false;
  for (const OutlineParameter &parameter : model.parameters)
    for (const OutlineParameterName &name : parameter.names) {
      const OutlineModule &holder = model.modules[name.module];
      if (!matches(holder))
        continue;
      names = true;
      StringRef path = shortestPath(model, holder.path, matches);
      if (parameter.requiresGrad && !llvm::is_contained(frozen.modules, path))
        frozen.modules.push_back(path.str());
    }
  if (!frozen.modules.empty())
    plan.training.freeze.push_back(std::move(frozen));
  else if (!names && option)
    diagnostics.warning(option->keyRange, "'" + option->key + "' freezes nothing: the model has no " + what)
        .help("'freeze PATH' in the plan freezes what PATH names");
}

void SectionReader::freezeNamed(llvm::ArrayRef<StringRef> parts, const std::string &from, const YamlEntry *option) {
  auto matches = [&](const OutlineModule &module) {
    std::string path = StringRef(module.path).lower();
    return llvm::any_of(parts, [&](StringRef part) { return StringRef(path).contains(part); });
  };
  std::vector<std::string> texts;
  for (StringRef part : parts)
    texts.push_back(part.str());
  freeze(from, matches, option, "module with parameters whose name contains " + quotedList(texts));
}

void SectionReader::readFrozen(const YamlEntry &section) {
  static const std::vector<StringRef> vision = {"vision", "visual", "image_encoder"},
                                      audio = {"audio", "speech", "sound"}, language = {"language", "text", "llm"},
                                      video = {"patch_generator.video_embedder"};
  auto named = [&](llvm::ArrayRef<StringRef> parts) {
    return [this, parts](const YamlEntry &entry) {
      if (reader.boolean(entry).value_or(false))
        freezeNamed(parts, reader.fromOf(entry), &entry);
    };
  };
  auto embeddings = [&](const YamlEntry &entry) {
    auto matches = [](const OutlineModule &module) { return StringRef(module.className).ends_with("Embedding"); };
    if (reader.boolean(entry).value_or(false))
      freeze(reader.fromOf(entry), matches, &entry, "embedding with parameters");
  };
  reader.readMap(section, {{"freeze_vision_tower", named(vision)},
                           {"freeze_audio_tower", named(audio)},
                           {"freeze_language_model", named(language)},
                           {"freeze_video_embedder", named(video)},
                           {"freeze_embeddings", embeddings}});
  if (!section.value.find("freeze_vision_tower"))
    freezeNamed(vision, "the default of freeze_vision_tower", nullptr);
}

void SectionReader::readSection(const YamlEntry &section) {
  StringRef name = section.key;
  if (isIn(outsideSections, name) || name.starts_with("_") || name.starts_with("validation_")) {
    outside.push_back(section.key);
    return;
  }
  bool isRead = isIn(readSections, name);
  if (!isRead && !isIn(changingSections, name))
    return readUnknown(section);
  const YamlEntry *enabled = section.value.find("enabled");
  if (section.value.saysNothing() || (enabled && !reader.boolean(*enabled).value_or(true)))
    return;
  if (name == "loss_fn")
    readLoss(section);
  else if (name == "peft")
    readPeft(section);
  else if (name == "freeze_config")
    readFrozen(section);
  else if (name == "quantization")
    leaveOut(section, "parameters have the numbers and the dtype of the archive");
  else if (!isRead)
    leaveOut(section, "it may change the training");
}

void SectionReader::read(const YamlValue &recipe) {
  for (const YamlEntry &section : recipe.entries)
    readSection(section);
  if (!leftOut.empty())
    plan.notes.push_back("Left out, and may change the training: " + llvm::join(leftOut, ", ") + ".");
  if (!outside.empty())
    plan.notes.push_back("Without effect on a plan: " + llvm::join(outside, ", ") + ".");
}

void meshplan::readOtherSections(const YamlValue &recipe, const ModelOutline &model, AdoptedPlan &plan,
                                 Diagnostics &diagnostics) {
  SectionReader(model, plan, diagnostics).read(recipe);
}
