//===- describe_settings.cpp - the settings of a plan ---------------------===//
//
// Settings are listed for `diff`, with all defaults filled in, so that plans are compared by what they do and not by
// what they state. A setting that only exists because of another one names it as its container: if only one of two
// plans has an optimizer, the optimizer is the difference, and not each of its numbers for each parameter.

#include "compiler/report/settings/describe_settings.h"
#include "compiler/support/number_text.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace meshplan;
using llvm::StringRef;

namespace {
class SettingsDescriber {
public:
  SettingsDescriber(const BoundPlan &plan, const ModelOutline &model, const Sources &sources)
      : plan(plan), model(model), sources(sources) {}

  Settings run();

private:
  void addInputs();
  void addOverlap(const BoundOverlapClause &clause);
  void addOptimizer(const BoundOptimizer &optimizer);
  void addNumbers(const BoundOptimizer &optimizer, size_t parameter);
  void addUse(size_t parameter);
  void addPrecision(const BoundPrecision &precision);
  void addRecompute(const BoundRecompute &recompute);
  void addRouting(const BoundRouting &routing);
  void addData(const BoundData &data);
  void addInit(const BoundInit &init);

  std::string locationOf(SourceRange range) const { return range.hasLine() ? locationText(sources, range) : ""; }
  /// Empty if the option is not stated.
  std::string locationOf(const OptionRanges &ranges, const std::string &option) const {
    auto known = ranges.find(option);
    return known == ranges.end() ? "" : locationOf(known->second);
  }
  std::string axesText(const AxisList &axes) const {
    auto name = [&](size_t axis) { return plan.environment.mesh.nameOf(axis); };
    std::string text = llvm::join(llvm::map_range(axes, name), ", ");
    return axes.size() == 1 ? text : "(" + text + ")";
  }
  std::pair<Setting::Of, std::string> parameterAt(size_t index) const {
    return {Setting::Of::parameter, parameterPath(model, model.parameters[index])};
  }
  void add(std::string name, std::string value, std::string location, std::string container = "") {
    settings.all.push_back({std::move(name), std::move(value), std::move(location), {}, std::move(container)});
  }

  const BoundPlan &plan;
  const ModelOutline &model;
  const Sources &sources;
  Settings settings;
};
} // namespace

void SettingsDescriber::addInputs() {
  for (const BoundInput &input : plan.inputs) {
    std::string text;
    for (const BoundDim &dim : input.dims) {
      text += (text.empty() ? "" : ", ") + dim.name + (dim.name.empty() ? "" : " = ") + std::to_string(dim.extent);
      text += dim.axes.empty() ? "" : " over " + axesText(dim.axes);
    }
    add("input " + model.inputs[input.input].name, "[" + text + "]", locationOf(input.range));
  }
}

/// `cosine { warmup 100; steps 1000 }`
static std::string scheduleText(const LrSchedule &schedule) {
  static constexpr StringRef kinds[] = {"constant", "linear", "cosine", "wsd"};
  std::vector<std::string> options;
  for (auto [name, number] :
       {std::pair("warmup", schedule.warmup), {"steps", schedule.steps}, {"decay", schedule.decay}})
    if (number != 0)
      options.push_back(std::string(name) + " " + std::to_string(number));
  if (schedule.min != 0)
    options.push_back("min " + numberText(schedule.min));
  std::string text = kinds[static_cast<size_t>(schedule.kind)].str();
  return options.empty() ? text : text + " { " + llvm::join(options, "; ") + " }";
}

/// The clause without its limit is what is compared: "overlap require gradients hidden".
void SettingsDescriber::addOverlap(const BoundOverlapClause &clause) {
  StringRef text = clause.text;
  size_t limit = text.find('>');
  add("overlap " + text.take_front(limit).rtrim().str(), text.drop_front(limit).str(), locationOf(clause.range));
}

void SettingsDescriber::addOptimizer(const BoundOptimizer &optimizer) {
  add("optimizer", optimizerName(optimizer.kind).str(), locationOf(optimizer.range));
  LrSchedule schedule = optimizer.schedule.value_or(LrSchedule());
  add("schedule", scheduleText(schedule), locationOf(schedule.range), "optimizer");
  add("clip_grad_norm", plan.clipGradNorm ? numberText(plan.clipGradNorm->norm) : "none",
      locationOf(plan.clipGradNorm.value_or(BoundClip()).range), "optimizer");
  BoundNonfinite nonfinite = plan.nonfinite.value_or(BoundNonfinite());
  bool skips = nonfinite.action == NonfiniteAction::Skip;
  add("nonfinite gradients",
      !plan.nonfinite ? "not looked for"
      : skips         ? "skip"
                      : "stop",
      locationOf(nonfinite.range), "optimizer");
  for (size_t parameter = 0; parameter < model.parameters.size(); ++parameter)
    addUse(parameter);
  for (size_t parameter = 0; parameter < model.parameters.size(); ++parameter)
    if (plan.parameterUse[parameter] == ParameterUse::Trained)
      addNumbers(optimizer, parameter);
}

void SettingsDescriber::addUse(size_t parameter) {
  static constexpr StringRef uses[] = {"trained", "frozen", "unused"};
  settings.all.push_back({"use", uses[static_cast<size_t>(plan.parameterUse[parameter])].str(),
                          locationOf(plan.parameterUseRange[parameter]), parameterAt(parameter), "optimizer"});
}

void SettingsDescriber::addNumbers(const BoundOptimizer &optimizer, size_t parameter) {
  const OptimizerGroup &group = optimizer.groups[optimizer.groupOf[parameter]];
  const OptimizerNumbers &numbers = group.numbers;
  auto addNumber = [&](const char *name, std::string value) {
    settings.all.push_back({name, std::move(value), locationOf(group.ranges, name), parameterAt(parameter), "use"});
  };
  addNumber("lr", numberText(numbers.lr));
  addNumber("weight_decay", numberText(numbers.weightDecay));
  if (optimizer.kind != OptimizerKind::Sgd) {
    addNumber("betas", "(" + numberText(numbers.beta1) + ", " + numberText(numbers.beta2) + ")");
    addNumber("eps", numberText(numbers.eps));
    return;
  }
  addNumber("momentum", numberText(numbers.momentum));
  addNumber("dampening", numberText(numbers.dampening));
  addNumber("nesterov", numbers.nesterov ? "true" : "false");
}

static std::string scaleText(const BoundLossScale &scale) {
  if (scale.interval == 0)
    return numberText(scale.initial);
  return "dynamic { initial " + numberText(scale.initial) + "; growth " + numberText(scale.growth) + "; backoff " +
         numberText(scale.backoff) + "; interval " + std::to_string(scale.interval) + " }";
}

/// Unstated dtypes depend on the model, so they are left out.
void SettingsDescriber::addPrecision(const BoundPrecision &precision) {
  auto addStated = [&](const std::string &option, const std::string &value) {
    if (!value.empty())
      add("precision " + option, value, locationOf(precision.ranges, option));
  };
  for (auto [option, member] : precisionTypes)
    addStated(option, precision.*member);
  addStated("loss_scale", precision.lossScale ? scaleText(*precision.lossScale) : "");
}

void SettingsDescriber::addRecompute(const BoundRecompute &recompute) {
  std::vector<std::string> keep = recompute.keep;
  llvm::sort(keep);
  std::string value = keep.empty() ? "all" : "all but " + llvm::join(keep, ", ");
  for (const BoundPaths &paths : recompute.paths)
    for (size_t module : paths.modules)
      settings.all.push_back(
          {"recompute", value, locationOf(paths.range), {Setting::Of::module, model.modules[module].path}});
}

void SettingsDescriber::addRouting(const BoundRouting &routing) {
  static constexpr StringRef names[] = {"reserve", "capacity", "balance bias"};
  std::string name = names[static_cast<size_t>(routing.rule)].str(), value = numberText(routing.number);
  if (routing.paths.empty())
    add(name, value, locationOf(routing.range));
  for (const BoundPaths &paths : routing.paths)
    for (size_t module : paths.modules)
      settings.all.push_back({name, value, locationOf(paths.range), {Setting::Of::module, model.modules[module].path}});
}

/// `parameters, optimizer`
static std::string kindsText(bool ofParameters, bool ofGradients, bool ofOptimizer) {
  std::vector<StringRef> kinds;
  for (auto [is, kind] :
       {std::pair(ofParameters, "parameters"), {ofGradients, "gradients"}, {ofOptimizer, "optimizer"}})
    if (is)
      kinds.push_back(kind);
  return kinds.empty() ? "none" : llvm::join(kinds, ", ");
}

static std::string pathsText(llvm::ArrayRef<BoundPaths> paths) {
  return llvm::join(llvm::map_range(paths, [](const BoundPaths &each) { return each.text; }), ", ");
}

static std::string unitsText(const BoundData &data) {
  std::vector<std::string> units;
  units.reserve(data.units.size());
  for (const std::vector<BoundPaths> &unit : data.units)
    units.push_back(unit.size() == 1 ? unit.front().text : "[" + pathsText(unit) + "]");
  return llvm::join(units, ", ");
}

/// `64 MiB`, in the largest unit that divides it.
static std::string sizeText(int64_t bytes) {
  static constexpr StringRef units[] = {" KiB", " MiB", " GiB"};
  StringRef unit = " bytes";
  for (StringRef larger : units)
    if (bytes % 1024 == 0) {
      bytes /= 1024;
      unit = larger;
    } else {
      break;
    }
  return std::to_string(bytes) + unit.str();
}

/// Several blocks may have the same axes, for different parameters.
void SettingsDescriber::addData(const BoundData &data) {
  std::vector<Setting> block;
  auto shards = [&](DataKind kind) { return llvm::is_contained(data.shard, kind); };
  std::string shard = kindsText(shards(DataKind::Parameters), shards(DataKind::Gradients), shards(DataKind::Optimizer));
  if (!data.shard.empty() && data.shardAxes != data.axes)
    shard += " over " + axesText(data.shardAxes);
  block.push_back({"data", axesText(data.axes) + ": shard " + shard, locationOf(data.range)});
  auto addOption = [&](const std::string &option, std::string value) {
    block.push_back({"data " + option, std::move(value), locationOf(data.ranges, option), {}, "data"});
  };
  addOption("unit", data.units.empty() ? "none" : unitsText(data));
  addOption("keep", data.keep.empty() ? "none" : pathsText(data.keep));
  addOption("bucket", !data.bucketBytes ? "" : *data.bucketBytes == 0 ? "none" : sizeText(*data.bucketBytes));
  addOption("overlap", kindsText(data.overlapParameters, data.overlapGradients, false));
  addOption("prefetch", std::to_string(data.prefetch));
  addOption("reduce", !data.reduce                                 ? ""
                      : *data.reduce == ReduceTime::EachMicrobatch ? "each microbatch"
                                                                   : "last microbatch");
  addOption("average", data.average == AverageTime::InCollective ? "in collective" : "after collective");
  addOption("contiguous", kindsText(data.contiguousParameters, data.contiguousGradients, false));
  addOption("register", data.registerBuffers ? "buffers" : "none");
  addOption("offload", kindsText(data.offloadParameters, false, data.offloadOptimizer));
  for (Setting &setting : block)
    for (size_t parameter : data.parameters) {
      setting.of = parameterAt(parameter);
      settings.all.push_back(setting);
    }
}

/// The evaluated numbers, in the form of the language.
static std::string distributionText(const InitialValues &values) {
  auto withMean = [&](std::string text) { return text + (values.mean == 0 ? "" : " mean " + numberText(values.mean)); };
  std::string gain = " gain " + numberText(values.gain), fan = values.isFanOut ? " fan out" : " fan in";
  switch (values.distribution) {
  case Distribution::Constant:
    return "constant " + numberText(values.value);
  case Distribution::Uniform:
    return "uniform " + numberText(values.low) + " " + numberText(values.high);
  case Distribution::Normal:
    return withMean("normal " + numberText(values.std));
  case Distribution::TruncatedNormal:
    return withMean("truncated normal " + numberText(values.std) + " from " + numberText(values.low) + " to " +
                    numberText(values.high));
  case Distribution::KaimingUniform:
    return "kaiming uniform" + fan + gain;
  case Distribution::KaimingNormal:
    return "kaiming normal" + fan + gain;
  case Distribution::XavierUniform:
    return "xavier uniform" + gain;
  case Distribution::XavierNormal:
    return "xavier normal" + gain;
  }
  llvm_unreachable("unknown distribution");
}

void SettingsDescriber::addInit(const BoundInit &init) {
  add("init", "stated", locationOf(init.range));
  for (auto [parameter, index] : llvm::enumerate(init.entryOf)) {
    const BoundInitEntry &entry = init.entries[index];
    settings.all.push_back({"initial values", distributionText(entry.values), locationOf(entry.paths.range),
                            parameterAt(parameter), "init"});
  }
}

Settings SettingsDescriber::run() {
  settings.parameters = static_cast<int64_t>(model.parameters.size());
  addInputs();
  if (plan.loss)
    add("loss", StringRef(lossText(*plan.loss, model)).drop_front(StringRef("loss ").size()).str(),
        locationOf(plan.loss->range));
  add("microbatches", std::to_string(plan.microbatches.count) + (plan.microbatches.mean ? " mean" : ""),
      locationOf(plan.microbatches.range));
  if (plan.optimizer)
    addOptimizer(*plan.optimizer);
  if (plan.precision)
    addPrecision(*plan.precision);
  for (const BoundRecompute &recompute : plan.recomputes)
    addRecompute(recompute);
  for (const BoundRouting &routing : plan.routings)
    addRouting(routing);
  for (const BoundData &data : plan.data)
    addData(data);
  if (plan.init)
    addInit(*plan.init);
  for (const BoundWeightName &each : plan.weightNames) {
    if (!each.range.hasLine()) // of a list of modules, whose files have what the modules have
      continue;
    if (each.parameter)
      settings.all.push_back({"weight name", each.text, locationOf(each.range), parameterAt(*each.parameter)});
    else
      add("weight name of '" + each.tensor + "'", each.text, locationOf(each.range));
  }
  for (const BoundOverlapClause &clause : plan.overlap)
    addOverlap(clause);
  if (plan.split)
    add("overlap split products", std::to_string(plan.split->most), locationOf(plan.split->range));
  if (plan.halves)
    add("overlap halves", "allowed", locationOf(*plan.halves));
  return std::move(settings);
}

Settings meshplan::describeSettings(const BoundPlan &plan, const ModelOutline &model, const Sources &sources) {
  return SettingsDescriber(plan, model, sources).run();
}
