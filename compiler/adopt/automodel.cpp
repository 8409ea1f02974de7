//===- automodel.cpp - recipes of NeMo Automodel --------------------------===//

#include "compiler/adopt/automodel.h"
#include "compiler/adopt/distributed_section.h"
#include "compiler/adopt/number_text.h"
#include "compiler/adopt/recipe_reader.h"
#include "compiler/adopt/schedule_text.h"
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
  void addNotes(const YamlValue &recipe);

  Diagnostics &diagnostics;
  RecipeReader reader;
  AdoptedPlan plan;
  std::optional<int64_t> steps;
  double lr = 0;
};

} // namespace

void AutomodelReader::readModel(const YamlEntry &section) {
  for (const char *name : {"torch_dtype", "dtype"})
    if (const YamlEntry *entry = section.value.find(name))
      if (std::optional<std::string> dtype = reader.dtype(*entry))
        plan.training.precision.stored = reader.taken(*dtype, *entry);
}

void AutomodelReader::readSteps(const YamlEntry &section) {
  if (const YamlEntry *entry = section.value.find("global_batch_size"))
    if (std::optional<int64_t> value = reader.integer(*entry))
      plan.training.globalBatch = reader.takenNumber(*value, *entry);
  if (const YamlEntry *entry = section.value.find("local_batch_size"))
    if (std::optional<int64_t> value = reader.integer(*entry))
      plan.training.microBatch = reader.takenNumber(*value, *entry);
  if (const YamlEntry *entry = section.value.find("max_steps"))
    steps = reader.integer(*entry);
}

void AutomodelReader::readNumbers(const YamlEntry &section, AdoptedOptimizer &optimizer) {
  auto number = [&](const char *option) {
    return [this, option, &optimizer](const YamlEntry &entry) {
      if (std::optional<double> value = reader.number(entry)) {
        optimizer.options.push_back(reader.taken(std::string(option) + " " + numberText(*value), entry));
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
          reader.taken("betas (" + numberText(*first) + ", " + numberText(*second) + ")", entry));
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
  auto refused = [&](const YamlEntry &entry) {
    if (reader.boolean(entry).value_or(false))
      reader.fail(entry, "the optimizer has no '" + entry.key + "' yet");
  };
  Options options = {{"_target_", [](const YamlEntry &) {}},
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
                                   {"adam_w_mode", [](const YamlEntry &) {}},
                                   {"bias_correction", [](const YamlEntry &) {}},
                                   {"exp_avg_sq_dtype", [](const YamlEntry &) {}}});
  reader.readMap(section, options);
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
  reader.readMap(section, {{"_target_", [](const YamlEntry &) {}},
                           {"lr_decay_style", [&](const YamlEntry &entry) { schedule.style = entry.value.text; }},
                           {"lr_warmup_steps", integer(warmup)},
                           {"lr_decay_steps", integer(schedule.steps)},
                           {"wsd_decay_steps", integer(schedule.decay)},
                           {"min_lr", [&](const YamlEntry &entry) { least = reader.number(entry); }}});
  // The recipe's own defaults: a tenth of the steps, and a hundredth of the lr.
  schedule.warmup = warmup.value_or(std::min<int64_t>(1000, schedule.steps.value_or(0) / 10));
  schedule.least = least.value_or(lr / 100);
  std::string problem, text = scheduleText(schedule, problem);
  if (!problem.empty())
    diagnostics.warning(section.keyRange, "the lr stays constant: " + problem)
        .help("'step_scheduler.max_steps' says the number of steps");
  if (!text.empty())
    optimizer.options.push_back(reader.taken(text, section));
}

void AutomodelReader::readClip(const YamlEntry &section) {
  const YamlEntry *entry = section.value.kind == YamlValue::Kind::map ? section.value.find("max_norm") : &section;
  if (!entry)
    return;
  if (std::optional<double> norm = reader.number(*entry); norm && *norm > 0)
    plan.training.clip = reader.taken("clip_grad_norm " + numberText(*norm), *entry);
}

void AutomodelReader::refuseEnabled(const YamlEntry &section, const std::string &why) {
  if (const YamlEntry *enabled = section.value.find("enabled"))
    if (reader.boolean(*enabled).value_or(false))
      reader.fail(*enabled, "'" + section.key + "' asks for " + why);
}

void AutomodelReader::addNotes(const YamlValue &recipe) {
  static const StringRef read[] = {"distributed",   "model",        "step_scheduler",
                                   "optimizer",     "lr_scheduler", "clip_grad_norm",
                                   "max_grad_norm", "fp8",          "compile"};
  std::vector<std::string> others;
  for (const YamlEntry &entry : recipe.entries)
    if (!llvm::is_contained(read, entry.key))
      others.push_back(entry.key);
  if (!others.empty())
    plan.notes.push_back("Says nothing of a plan: " + llvm::join(others, ", ") + ".");
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
  addNotes(recipe);
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
    diagnostics.error({source.file()}, "has no section 'distributed', so that it says nothing of a plan");
    return std::nullopt;
  }
  return AutomodelReader(diagnostics).read(*recipe, model, axes);
}
