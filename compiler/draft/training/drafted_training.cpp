//===- drafted_training.cpp - training in a drafted plan ------------------===//
//
// Turns the settings of a foreign plan, or the default ones, into statements for
// this model: units become the model's layers or modules of a class, a group
// without weight decay becomes patterns of its vectors, and the batch becomes
// microbatches. Each statement notes where it came from, and whether it may be
// removed if the compiler refuses it.
//
//===----------------------------------------------------------------------===//

#include "compiler/draft/training/drafted_training.h"
#include "compiler/draft/module_patterns.h"
#include "compiler/draft/plan_words.h"
#include "compiler/support/layer_names.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVectorExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <map>

using namespace meshplan;
using llvm::StringRef;

namespace {

class TrainingDrafter {
public:
  TrainingDrafter(const AdoptedTraining &training, const TrainingFacts &facts, Diagnostics &diagnostics)
      : training(training), facts(facts), diagnostics(diagnostics) {}

  std::vector<DraftStatement> draft();

private:
  int64_t microbatches();
  void addMicrobatches(int64_t count);
  void addData(int64_t count);
  void addShard(DraftStatement &data);
  void addPrecision();
  void addRecompute();
  void addOptimizer();
  bool isTrained(const OutlineParameter &parameter) const;
  std::string parameterType() const;
  std::vector<std::string> layers(int64_t most) const;
  std::vector<std::string> modulesOf(const std::vector<std::string> &classes) const;
  std::vector<std::string> patterns(const std::vector<std::string> &paths) const;
  std::vector<std::string> units() const;
  std::vector<std::string> vectors() const;

  const AdoptedTraining &training;
  const TrainingFacts &facts;
  Diagnostics &diagnostics;
  std::vector<DraftStatement> statements;
};

} // namespace

//===----------------------------------------------------------------------===//
// The model
//===----------------------------------------------------------------------===//

/// True if a module that the foreign plan freezes holds the parameter.
static bool isFrozen(const AdoptedTraining &training, const ModelOutline &model, const OutlineParameter &parameter) {
  return llvm::any_of(training.freeze, [&](const AdoptedFreeze &frozen) {
    return llvm::any_of(parameter.names, [&](const OutlineParameterName &name) {
      const std::string &holder = model.modules[name.module].path;
      return llvm::any_of(frozen.modules,
                          [&](const std::string &module) { return holder == module || isInside(holder, module); });
    });
  });
}

enum class Trained { yes, byArchive, frozen, unused };

static Trained trainedOf(const AdoptedTraining &training, const TrainingFacts &facts,
                         const OutlineParameter &parameter) {
  return !parameter.requiresGrad                                                   ? Trained::byArchive
         : isFrozen(training, facts.model, parameter)                              ? Trained::frozen
         : llvm::is_contained(facts.unused, parameterPath(facts.model, parameter)) ? Trained::unused
                                                                                   : Trained::yes;
}

std::string meshplan::whyUntrained(const AdoptedTraining &training, const TrainingFacts &facts) {
  std::map<Trained, size_t> counts;
  for (const OutlineParameter &parameter : facts.model.parameters)
    ++counts[trainedOf(training, facts, parameter)];
  if (counts[Trained::yes] > 0)
    return "";
  if (facts.model.parameters.empty())
    return "the model has no parameter";
  std::vector<std::string> reasons;
  auto add = [&](Trained kind, const char *reason) {
    if (counts[kind] > 0)
      reasons.push_back(std::to_string(counts[kind]) + reason);
  };
  add(Trained::byArchive, " require no gradient in the archive");
  add(Trained::frozen, " are frozen by the recipe");
  add(Trained::unused, " are not reached by the loss");
  return "of " + std::to_string(facts.model.parameters.size()) + " parameters " + llvm::join(reasons, ", ");
}

bool TrainingDrafter::isTrained(const OutlineParameter &parameter) const {
  return trainedOf(training, facts, parameter) == Trained::yes;
}

/// The dtype of most trained parameters.
std::string TrainingDrafter::parameterType() const {
  std::map<std::string, size_t> counts;
  for (const OutlineParameter &parameter : facts.model.parameters)
    if (isTrained(parameter))
      ++counts[parameter.dtype];
  auto most = llvm::max_element(counts, [](const auto &left, const auto &right) { return left.second < right.second; });
  return most == counts.end() ? "f32" : most->first;
}

static bool isNumber(StringRef component) { return !component.empty() && llvm::all_of(component, llvm::isDigit); }

/// Modules that are items of an outermost list and hold trained parameters; only the first `most` of each list if that
/// is not 0.
std::vector<std::string> TrainingDrafter::layers(int64_t most) const {
  std::vector<std::string> paths;
  for (const OutlineModule &module : facts.model.modules) {
    auto [list, number] = StringRef(module.path).rsplit('.');
    int64_t index = 0;
    // Outermost lists only: `layers.3` is a layer, and `layers.3.experts.5` a part of it, which a unit or a recomputed
    // region around the layer contains.
    if (!isNumber(number) || llvm::any_of(llvm::split(list, '.'), isNumber) || number.getAsInteger(10, index) ||
        (most && index >= most))
      continue;
    auto holds = [&](const OutlineParameter &parameter) {
      return isTrained(parameter) && llvm::any_of(parameter.names, [&](const OutlineParameterName &name) {
               const std::string &holder = facts.model.modules[name.module].path;
               return holder == module.path || isInside(holder, module.path);
             });
    };
    if (llvm::any_of(facts.model.parameters, holds))
      paths.push_back(module.path);
  }
  return paths;
}

std::vector<std::string> TrainingDrafter::modulesOf(const std::vector<std::string> &classes) const {
  auto last = [](StringRef name) { return name.substr(name.rfind('.') + 1); };
  std::vector<std::string> paths;
  for (const OutlineModule &module : facts.model.modules)
    if (llvm::any_of(classes, [&](const std::string &name) { return last(name) == last(module.className); }))
      paths.push_back(module.path);
  return paths;
}

std::vector<std::string> TrainingDrafter::patterns(const std::vector<std::string> &paths) const {
  auto labelled = llvm::map_to_vector(paths, [](const std::string &path) { return LabelledModule{path, ""}; });
  std::vector<std::string> all;
  all.reserve(facts.model.modules.size() + facts.model.parameters.size());
  for (const OutlineModule &module : facts.model.modules)
    all.push_back(module.path);
  for (const OutlineParameter &parameter : facts.model.parameters)
    all.push_back(parameterPath(facts.model, parameter));
  std::vector<std::string> texts;
  for (const ModulePattern &pattern : patternsOf({labelled.begin(), labelled.end()}, all))
    texts.push_back(pattern.text());
  return texts;
}

std::vector<std::string> TrainingDrafter::units() const {
  if (!training.data.unitClasses.empty())
    return patterns(modulesOf(training.data.unitClasses));
  return training.data.byUnits ? patterns(layers(0)) : std::vector<std::string>();
}

//===----------------------------------------------------------------------===//
// Statements
//===----------------------------------------------------------------------===//

/// The number of microbatches in which a rank computes its samples.
int64_t TrainingDrafter::microbatches() {
  // The foreign plan's microbatch size does not apply to a batch of another size.
  if (!training.microBatch || !facts.batch || (training.globalBatch && training.globalBatch->value != *facts.batch))
    return 1;
  int64_t ranks = facts.splitsBatch ? shardsOfRole(facts.mesh, AxisRole::data) : 1;
  int64_t parts = *facts.batch / training.microBatch->value;
  if (*facts.batch % training.microBatch->value == 0 && parts % ranks == 0)
    return parts / ranks;
  diagnostics.error(training.microBatch->range, "a batch of " + std::to_string(*facts.batch) +
                                                    " is not a multiple of " +
                                                    std::to_string(training.microBatch->value) +
                                                    " samples on each of " + std::to_string(ranks) + " ranks");
  return 1;
}

void TrainingDrafter::addMicrobatches(int64_t count) {
  if (count == 1)
    return;
  std::string from = training.microBatch->from;
  if (training.globalBatch)
    from = training.globalBatch->from + ", " + from;
  statements.push_back({"microbatches " + std::to_string(count), from, {}});
}

void TrainingDrafter::addShard(DraftStatement &data) {
  const AdoptedData &wanted = training.data;
  if (wanted.shard.text.empty())
    return;
  std::vector<std::string> axes;
  for (const DraftAxis &axis : facts.mesh)
    if (axis.role == AxisRole::data)
      axes.push_back(axis.name);
  // With two axes, the inner one shards and the outer one replicates the shards. Axes are written outermost first, so
  // the inner one connects the ranks that are closest: gathers, which move most, stay among them.
  AdoptedText shard = wanted.shard;
  shard.text = "shard " + shard.text + (axes.size() == 2 ? " over " + axes.back() : "");
  data.options.push_back(shard);
  std::vector<std::string> own = units();
  if (own.empty())
    return;
  data.options.push_back({"unit " + llvm::join(own, ", "), ""});
  if (!wanted.keep.text.empty() && StringRef(wanted.shard.text).starts_with("parameters"))
    data.options.push_back({"keep " + llvm::join(own, ", "), wanted.keep.from});
}

void TrainingDrafter::addData(int64_t count) {
  std::string axes = axesOfRole(facts.mesh, AxisRole::data);
  if (axes.empty() || !facts.splitsBatch)
    return;
  StringRef list = axes;
  if (list.consume_front("("))
    list.consume_back(")");
  DraftStatement data{"data " + list.str(), "", {}};
  addShard(data);
  llvm::append_range(data.options, training.data.options);
  if (count > 1 && !training.data.reduceEach.text.empty())
    data.options.push_back(training.data.reduceEach);
  if (!data.options.empty())
    statements.push_back(std::move(data));
}

void TrainingDrafter::addPrecision() {
  const AdoptedPrecision &wanted = training.precision;
  std::string own = parameterType();
  bool isHalf = own == "bf16" || own == "f16", trains = training.optimizer.has_value();
  if (!wanted.stored.text.empty() && wanted.stored.text != own)
    diagnostics
        .warning(wanted.stored.range, "this states parameters in " + wanted.stored.text +
                                          ", and those of the archive are "
                                          "in " +
                                          own)
        .help("the dtype of the archive applies: a model is exported in the dtype that it is trained in");
  DraftStatement precision{"precision", "", {}};
  auto add = [&](const char *name, const AdoptedText &taken, const std::string &otherwise) {
    if (!taken.text.empty() && taken.text != otherwise)
      precision.options.push_back({name + (" " + taken.text), taken.from});
  };
  if (own == "f32" && wanted.compute.text != "f64")
    add("compute", wanted.compute, own);
  std::string changed = trains && isHalf && !wanted.master.text.empty() ? wanted.master.text : own;
  if (trains) {
    add("master", isHalf ? wanted.master : AdoptedText(), own);
    add("reduce", wanted.reduce, changed);
    add("state", wanted.state, changed);
    if (!wanted.lossScale.text.empty())
      precision.options.push_back(wanted.lossScale);
  }
  if (!precision.options.empty())
    statements.push_back(std::move(precision));
}

void TrainingDrafter::addRecompute() {
  if (!training.recompute)
    return;
  std::vector<std::string> own = patterns(layers(training.recompute->layers));
  if (own.empty())
    return;
  std::string keep = training.recompute->keep.empty() ? "" : " keep " + llvm::join(training.recompute->keep, ", ");
  statements.push_back({"recompute " + llvm::join(own, ", ") + keep, training.recompute->from, {}});
}

/// Patterns of the trained parameters with at most one dim: `**.bias` where all parameters of that name are such, else
/// their paths. Empty if all other parameters are.
std::vector<std::string> TrainingDrafter::vectors() const {
  auto isVector = [&](const OutlineParameter &parameter) { return isTrained(parameter) && parameter.shape.size() < 2; };
  std::map<std::string, std::pair<size_t, size_t>> byName; // number of parameters, and of those that are vectors
  for (const OutlineParameter &parameter : facts.model.parameters) {
    auto &[all, own] = byName[parameter.names.front().leaf];
    ++all;
    own += isVector(parameter);
  }
  auto isShared = [&](const std::string &name) {
    auto [all, own] = byName[name];
    return own > 1 && own == all && planWord(name) == name;
  };
  std::vector<std::string> named, paths;
  bool hasOthers = false;
  for (const OutlineParameter &parameter : facts.model.parameters) {
    const std::string &name = parameter.names.front().leaf;
    hasOthers |= isTrained(parameter) && !isVector(parameter);
    if (!isVector(parameter))
      continue;
    if (!isShared(name))
      paths.push_back(parameterPath(facts.model, parameter));
    else if (!llvm::is_contained(named, "**." + name))
      named.push_back("**." + name);
  }
  llvm::append_range(named, patterns(paths));
  return hasOthers ? named : std::vector<std::string>();
}

void TrainingDrafter::addOptimizer() {
  const AdoptedOptimizer &wanted = *training.optimizer;
  DraftStatement optimizer{"optimizer " + wanted.kind, wanted.from, wanted.options, /*mayGo=*/false};
  std::vector<std::string> group = wanted.vectorsDoNotDecay.text.empty() ? std::vector<std::string>() : vectors();
  if (!group.empty())
    optimizer.options.push_back({"group " + llvm::join(group, ", ") + " { " + wanted.vectorsDoNotDecay.text + " }",
                                 wanted.vectorsDoNotDecay.from});
  statements.push_back(std::move(optimizer));
}

std::vector<DraftStatement> TrainingDrafter::draft() {
  auto add = [&](const AdoptedText &statement) {
    if (!statement.text.empty())
      statements.push_back({statement.text, statement.from, {}});
  };
  if (!training.optimizer) {
    addPrecision();
    add(training.capacity);
    return std::move(statements);
  }
  int64_t count = microbatches();
  addMicrobatches(count);
  addData(count);
  addPrecision();
  addRecompute();
  add(training.capacity);
  add(training.balance);
  add(training.halves);
  addOptimizer();
  if (!training.clip.text.empty())
    statements.push_back({training.clip.text, training.clip.from, {}, /*mayGo=*/false});
  if (!training.nonfinite.text.empty())
    statements.push_back({training.nonfinite.text, training.nonfinite.from, {}, /*mayGo=*/false});
  for (const AdoptedFreeze &frozen : training.freeze)
    statements.push_back({"freeze " + llvm::join(patterns(frozen.modules), ", "), frozen.from, {}, /*mayGo=*/false});
  std::vector<std::string> unused;
  for (const OutlineParameter &parameter : facts.model.parameters)
    if (trainedOf(training, facts, parameter) == Trained::unused)
      unused.push_back(parameterPath(facts.model, parameter));
  if (!unused.empty())
    statements.push_back({"unused " + llvm::join(patterns(unused), ", "), "the loss does not reach them", {}, false});
  return std::move(statements);
}

std::vector<DraftStatement> meshplan::draftTraining(const AdoptedTraining &training, const TrainingFacts &facts,
                                                    Diagnostics &diagnostics) {
  return TrainingDrafter(training, facts, diagnostics).draft();
}

AdoptedTraining meshplan::usualTraining(const std::vector<DraftAxis> &mesh, const ModelOutline &model) {
  AdoptedTraining training;
  bool sharesParameters = llvm::any_of(mesh, [](const DraftAxis &axis) { return axis.name == "fsdp"; });
  training.data.shard.text = sharesParameters ? "parameters, gradients, optimizer" : "gradients, optimizer";
  training.precision.master.text = "f32";
  if (llvm::any_of(model.parameters,
                   [](const OutlineParameter &own) { return own.requiresGrad && own.dtype == "f16"; }))
    training.precision.lossScale.text = "loss_scale dynamic";
  AdoptedOptimizer optimizer{
      "adamw",
      "",
      {{"lr 3e-4", "a schedule needs the number of steps: schedule cosine { warmup 100; steps 1000; min 0.1 }"},
       {"betas (0.9, 0.95)", ""},
       {"weight_decay 0.1", ""}},
      {"weight_decay 0", ""}};
  training.optimizer = std::move(optimizer);
  training.clip.text = "clip_grad_norm 1.0";
  return training;
}
