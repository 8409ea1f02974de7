//===- automodel.cpp - recipes of NeMo Automodel --------------------------===//
//
// Each section of a recipe has its options, each with the function that translates it, the options that are known and
// change nothing in a plan (the archive determines them, or the run), and the options that would change the training
// and have no counterpart, which are warned about where they are set. Settings that need two options, such as the
// schedule and the steps of the optimizer, are read when both sections are known.
//
//===----------------------------------------------------------------------===//

#include "compiler/adopt/automodel.h"
#include "compiler/adopt/distributed_section.h"
#include "compiler/adopt/numbers.h"
#include "compiler/adopt/recipe_reader.h"
#include "compiler/adopt/recipe_sections.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

using namespace meshplan;
using llvm::StringRef;

namespace {

class AutomodelReader {
public:
  explicit AutomodelReader(Diagnostics &diagnostics) : diagnostics(diagnostics), reader(diagnostics) {}

  std::optional<AdoptedPlan> read(const YamlValue &recipe, const ModelOutline &model, const std::string &axes);

private:
  using Options = std::vector<RecipeReader::Option>;

  void readModel(const YamlEntry &section);
  void readSteps(const YamlEntry &section);
  void readOptimizer(const YamlEntry &section, const YamlEntry *schedule);
  void readNumbers(const YamlEntry &section, AdoptedOptimizer &optimizer);
  void readSchedule(const YamlEntry &section, AdoptedOptimizer &optimizer);
  void readClip(const YamlEntry &section);
  void refuseEnabled(const YamlEntry &section, const std::string &why);

  Diagnostics &diagnostics;
  RecipeReader reader;
  AdoptedPlan plan;
  std::optional<int64_t> steps;
  double lr = 0;
};

} // namespace

static void ignore(const YamlEntry &) {}

/// Adds options that are known and do not affect a plan.
static void addIgnored(std::vector<RecipeReader::Option> &options, StringRef names) {
  for (StringRef name : llvm::split(names, ' '))
    options.push_back({name, ignore});
}

void AutomodelReader::readModel(const YamlEntry &section) {
  auto stored = [&](const YamlEntry &entry) {
    if (std::optional<std::string> dtype = reader.dtype(entry))
      plan.training.precision.stored = reader.taken(*dtype, entry);
  };
  Options options = {{"torch_dtype", stored}, {"dtype", stored}};
  // Settings of the model, its weights and operators: the archive determines them.
  addIgnored(options,
             "_target_ pretrained_model_name_or_path backend trust_remote_code attn_implementation attention_backend "
             "config text_config use_liger_kernel use_sdpa_patching output_hidden_states force_hf load_base_model "
             "cache_dir model_type checkpoint num_labels tie_word_embeddings vocab_size n_positions n_layer n_head "
             "n_embd num_nextn_predict_layers mtp_use_repeated_layer pooling l2_normalize eos_token_id bos_token_id "
             "revision token use_cache mode stage name_or_path");
  reader.readMap(section, options,
                 {"quantization_config",
                  "compute_dtype",
                  "transformer_engine_fp8",
                  "transformer_engine_fp8_recipe",
                  "transformer_engine_linear",
                  "mtp_loss_scaling_factor",
                  "router_aux_loss_coef",
                  "freeze_router",
                  "lora_weights",
                  "lora_scale",
                  "lora_adapter_name",
                  "drafter_path",
                  "drafter_num_steps",
                  "drafter_loss_weight",
                  "temperature",
                  "base_activation_checkpointing",
                  "fuse_qkv_projections",
                  "peft_config",
                  "freeze_config",
                  "fp8_config"});
}

void AutomodelReader::readSteps(const YamlEntry &section) {
  auto size = [&](std::optional<AdoptedNumber> &to) {
    return [this, &to](const YamlEntry &entry) {
      if (std::optional<int64_t> value = reader.integer(entry))
        to = reader.takenNumber(*value, entry);
    };
  };
  Options options = {{"global_batch_size", size(plan.training.globalBatch)},
                     {"local_batch_size", size(plan.training.microBatch)},
                     {"max_steps", [&](const YamlEntry &entry) { steps = reader.integer(entry); }}};
  addIgnored(options, "_target_ num_epochs ckpt_every_steps val_every_steps gc_every_steps log_remote_every_steps "
                      "save_checkpoint_every_epoch loss_average_window_steps start_step start_epoch");
  reader.readMap(section, options);
}

/// Optimizer options of Automodel that have no effect here, or that belong to another optimizer.
static constexpr StringRef otherOptimizerOptions[] = {"foreach",
                                                      "fused",
                                                      "capturable",
                                                      "differentiable",
                                                      "store_param_remainders",
                                                      "compress_state_dict",
                                                      "master_weight_bits",
                                                      "master_weight_dtype",
                                                      "use_triton",
                                                      "warmup_ratio",
                                                      "min_lr_ratio",
                                                      "scalar_opt",
                                                      "scalar_lr",
                                                      "scalar_eps",
                                                      "scalar_betas",
                                                      "mu",
                                                      "lm_head_lr",
                                                      "embed_lr",
                                                      "flatten",
                                                      "epsilon",
                                                      "adjust_lr",
                                                      "momentum",
                                                      "dampening",
                                                      "nesterov",
                                                      "eps",
                                                      "betas",
                                                      "params"};

void AutomodelReader::readNumbers(const YamlEntry &section, AdoptedOptimizer &optimizer) {
  auto number = [&](const char *option) {
    return [this, option, &optimizer](const YamlEntry &entry) {
      if (std::optional<double> value = reader.number(entry)) {
        optimizer.options.push_back(reader.taken(std::string(option) + " " + planNumber(*value), entry));
        if (StringRef(option) == "lr")
          lr = *value;
      }
    };
  };
  auto betas = [&](const YamlEntry &entry) {
    std::optional<double> first, second;
    if (entry.value.items.size() == 2) {
      first = parseNumber(entry.value.items[0].text);
      second = parseNumber(entry.value.items[1].text);
    }
    if (!first || !second)
      reader.fail(entry, "'betas' are two numbers");
    else
      optimizer.options.push_back(
          reader.taken("betas (" + planNumber(*first) + ", " + planNumber(*second) + ")", entry));
  };
  auto state = [&](const YamlEntry &entry) {
    if (std::optional<std::string> dtype = reader.dtype(entry))
      plan.training.precision.state = reader.taken(*dtype, entry);
  };
  auto master = [&](const YamlEntry &entry) {
    if (reader.boolean(entry).value_or(false))
      plan.training.precision.master = reader.taken("f32", entry);
  };
  auto nesterov = [&](const YamlEntry &entry) {
    if (reader.boolean(entry).value_or(false))
      optimizer.options.push_back(reader.taken("nesterov", entry));
  };
  auto secondState = [&](const YamlEntry &entry) {
    std::optional<std::string> second = reader.dtype(entry);
    const YamlEntry *other = section.value.find("exp_avg_dtype");
    std::string first = other ? reader.dtype(*other).value_or("f32") : "f32";
    if (second && *second != first)
      reader.fail(entry, "the two moments have different types, " + first + " and " + *second + ", and a plan has one");
  };
  auto correction = [&](const YamlEntry &entry) {
    if (!reader.boolean(entry).value_or(true))
      reader.fail(entry, "the optimizer always corrects the bias of its moments");
  };
  auto refused = [&](const YamlEntry &entry) {
    if (reader.boolean(entry).value_or(false))
      reader.fail(entry, "the optimizer has no '" + entry.key + "' yet");
  };
  Options options = {{"_target_", ignore},
                     {"lr", number("lr")},
                     {"weight_decay", number("weight_decay")},
                     {"amsgrad", refused},
                     {"maximize", refused}};
  if (optimizer.kind == "sgd")
    options.insert(options.end(),
                   {{"momentum", number("momentum")}, {"dampening", number("dampening")}, {"nesterov", nesterov}});
  else
    options.insert(options.end(), {{"eps", number("eps")},
                                   {"betas", betas},
                                   {"exp_avg_dtype", state},
                                   {"master_weights", master},
                                   {"adam_w_mode", ignore},
                                   {"bias_correction", correction},
                                   {"exp_avg_sq_dtype", secondState}});
  reader.readMap(section, options, otherOptimizerOptions);
}

void AutomodelReader::readOptimizer(const YamlEntry &section, const YamlEntry *schedule) {
  const YamlEntry *target = section.value.find("_target_");
  std::optional<std::string> name = target ? reader.lastName(*target) : std::optional<std::string>("AdamW");
  if (!name)
    return;
  const YamlEntry *mode = section.value.find("adam_w_mode");
  bool decoupled = !mode || reader.boolean(*mode).value_or(true);
  std::string kind = llvm::StringSwitch<std::string>(*name)
                         .Case("Adam", "adam")
                         .Cases({"AdamW", "FlashAdamW"}, "adamw")
                         .Case("FusedAdam", decoupled ? "adamw" : "adam")
                         .Case("SGD", "sgd")
                         .Default("");
  if (kind.empty()) {
    reader.fail(*target, "there is no optimizer '" + *name + "' yet")
        .help("optimizers are Adam, AdamW, FusedAdam and SGD");
    return;
  }
  AdoptedOptimizer optimizer{kind, target ? reader.fromOf(*target) : reader.fromOf(section), {}, {}};
  readNumbers(section, optimizer);
  // The default of the language is that of PyTorch's AdamW, 0.01.
  if (kind == "adamw" && *name == "FusedAdam" && !section.value.find("weight_decay"))
    optimizer.options.push_back({"weight_decay 0", "the default of FusedAdam"});
  if (schedule)
    readSchedule(*schedule, optimizer);
  plan.training.optimizer = std::move(optimizer);
}

void AutomodelReader::readSchedule(const YamlEntry &section, AdoptedOptimizer &optimizer) {
  ForeignSchedule schedule;
  schedule.lr = lr;
  schedule.style = "cosine";
  schedule.steps = steps;
  std::optional<double> least;
  std::optional<int64_t> warmup;
  auto integer = [&](std::optional<int64_t> &to) {
    return [&, this](const YamlEntry &entry) {
      if (std::optional<int64_t> value = reader.integer(entry, 0))
        to = value;
    };
  };
  reader.readMap(section,
                 {{"_target_", ignore},
                  {"lr_decay_style", [&](const YamlEntry &entry) { schedule.style = entry.value.text; }},
                  {"lr_warmup_steps", integer(warmup)},
                  {"lr_decay_steps", integer(schedule.steps)},
                  {"wsd_decay_steps", integer(schedule.decay)},
                  {"min_lr", [&](const YamlEntry &entry) { least = reader.number(entry); }}},
                 {"init_lr", "lr_wsd_decay_style", "warmup_steps", "warmup_ratio", "schedule", "start_wd", "end_wd",
                  "wd_incr_steps", "wd_incr_style", "override_opt_param_scheduler",
                  "use_checkpoint_opt_param_scheduler"});
  // The recipe's own defaults: a tenth of the steps, and a hundredth of the lr.
  schedule.warmup = warmup.value_or(std::min<int64_t>(1000, schedule.steps.value_or(0) / 10));
  schedule.least = least.value_or(lr / 100);
  std::string problem, text = scheduleText(schedule, problem);
  if (!problem.empty())
    diagnostics.warning(section.keyRange, "the lr stays constant: " + problem)
        .help("'step_scheduler.max_steps' sets the number of steps");
  if (schedule.warmup > 0 && !text.empty())
    plan.notes.push_back("Warmup: step s, counted from 0, takes lr * (s + 1) / " + std::to_string(schedule.warmup) +
                         " here; in Automodel lr begins at init_lr, by default lr / 10.");
  if (llvm::StringRef(schedule.style).equals_insensitive("wsd") && !section.value.find("lr_wsd_decay_style"))
    diagnostics.warning(section.keyRange, "lr decays linearly in the last steps: exponential decay is not supported");
  if (!text.empty())
    optimizer.options.push_back(reader.taken(text, section));
}

void AutomodelReader::readClip(const YamlEntry &section) {
  auto norm = [&](const YamlEntry &entry) {
    if (std::optional<double> most = reader.number(entry); most && *most > 0)
      plan.training.clip = reader.taken("clip_grad_norm " + planNumber(*most), entry);
  };
  const YamlEntry *order = nullptr;
  auto type = [&](const YamlEntry &entry) {
    if (!entry.value.saysNothing() && parseNumber(entry.value.text) != 2.0)
      order = &entry;
  };
  if (section.value.kind == YamlValue::Kind::map)
    reader.readMap(section, {{"_target_", ignore}, {"max_norm", norm}, {"norm_type", type}},
                   {"foreach", "error_if_nonfinite"});
  else
    norm(section);
  if (!order || plan.training.clip.text.empty())
    return;
  std::string other = "'norm_type' of " + order->value.text;
  diagnostics.warning(order->value.range, other + " is left out: the norm that is clipped is the 2-norm");
  plan.training.clip.from += "; " + other + " is left out";
}

void AutomodelReader::refuseEnabled(const YamlEntry &section, const std::string &why) {
  if (const YamlEntry *enabled = section.value.find("enabled"))
    if (reader.boolean(*enabled).value_or(false))
      reader.fail(*enabled, "'" + section.key + "' asks for " + why)
          .help("leave out '" + section.key + "': products are then computed in the dtype of 'mp_policy'");
}

std::optional<AdoptedPlan> AutomodelReader::read(const YamlValue &recipe, const ModelOutline &model,
                                                 const std::string &axes) {
  plan.notes.push_back("Sizes and numbers: a recipe of NeMo Automodel; styles: the graph of the model.");
  readDistributed(*recipe.find("distributed"), model, axes, plan, diagnostics);
  auto each = [&](StringRef name, auto read) {
    if (const YamlEntry *section = recipe.find(name); section && !section->value.saysNothing())
      read(*section);
  };
  each("model", [&](const YamlEntry &section) { readModel(section); });
  // Before the optimizer, whose schedule depends on the number of steps.
  each("step_scheduler", [&](const YamlEntry &section) { readSteps(section); });
  each("optimizer", [&](const YamlEntry &section) { readOptimizer(section, recipe.find("lr_scheduler")); });
  each("clip_grad_norm", [&](const YamlEntry &section) { readClip(section); });
  each("max_grad_norm", [&](const YamlEntry &section) { readClip(section); });
  each("fp8",
       [&](const YamlEntry &section) { refuseEnabled(section, "8-bit numbers, which need a scale for each tensor"); });
  each("compile", [&](const YamlEntry &section) {
    if (const YamlEntry *enabled = section.value.find("enabled"); enabled && reader.boolean(*enabled).value_or(false))
      reader.noEffect(section, "operators run as PyTorch has them");
  });
  readOtherSections(recipe, model, plan, diagnostics);
  if (diagnostics.hasErrors())
    return std::nullopt;
  if (plan.styles)
    plan.notes.front() = "Sizes, styles and numbers: a recipe of NeMo Automodel.";
  return std::move(plan);
}

std::optional<AdoptedPlan> meshplan::adoptAutomodel(const SourceBuffer &source, const ModelOutline &model,
                                                    const std::string &axes, Diagnostics &diagnostics) {
  std::optional<YamlValue> recipe = readYaml(source, diagnostics);
  if (!recipe)
    return std::nullopt;
  if (!recipe->find("distributed")) {
    AdoptedPlan unused; // an error about a misspelt section name is more helpful than the one below
    readOtherSections(*recipe, model, unused, diagnostics);
    if (!diagnostics.hasErrors())
      diagnostics.error({source.file()}, "has no section 'distributed', so it does not describe a plan")
          .help("'distributed: {tp_size: 2}' splits the weights over 2 ranks");
    return std::nullopt;
  }
  return AutomodelReader(diagnostics).read(*recipe, model, axes);
}
