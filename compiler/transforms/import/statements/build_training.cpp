//===- build_training.cpp - statements of training as ops -----------------===//

#include "compiler/support/activation_sums.h"
#include "compiler/transforms/import/build_statements.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace meshplan;
using namespace meshplan::plan;

DictionaryAttr StatementBuilder::numbersOf(const OptimizerNumbers &numbers) const {
  NamedAttrList list;
  for (auto [name, value] : {std::pair("lr", numbers.lr),
                             {"weight_decay", numbers.weightDecay},
                             {"beta1", numbers.beta1},
                             {"beta2", numbers.beta2},
                             {"eps", numbers.eps},
                             {"momentum", numbers.momentum},
                             {"dampening", numbers.dampening},
                             {"nesterov", numbers.nesterov ? 1.0 : 0.0}})
    list.set(name, builder.getF64FloatAttr(value));
  return list.getDictionary(builder.getContext());
}

DictionaryAttr StatementBuilder::scheduleOf(const LrSchedule &schedule) const {
  static constexpr StringLiteral kinds[] = {"constant", "linear", "cosine", "wsd"};
  NamedAttrList list;
  list.set("kind", builder.getStringAttr(kinds[static_cast<size_t>(schedule.kind)]));
  for (auto [name, value] :
       {std::pair("warmup", schedule.warmup), {"steps", schedule.steps}, {"decay", schedule.decay}})
    list.set(name, builder.getI64IntegerAttr(value));
  list.set("min", builder.getF64FloatAttr(schedule.min));
  return list.getDictionary(builder.getContext());
}

static StringRef actionName(NonfiniteAction action) { return action == NonfiniteAction::Skip ? "skip" : "stop"; }

/// The loss, and how the optimizer updates parameters.
void StatementBuilder::buildTraining() {
  LossOp::create(builder, locate(bound.loss->range), static_cast<int64_t>(bound.loss->output));
  SmallVector<Attribute> groups;
  for (const OptimizerGroup &group : bound.optimizer->groups)
    groups.push_back(numbersOf(group.numbers));
  const std::optional<LrSchedule> &schedule = bound.optimizer->schedule;
  OptimizerOp::create(builder, locate(bound.optimizer->range),
                      builder.getStringAttr(optimizerName(bound.optimizer->kind)), builder.getArrayAttr(groups),
                      schedule ? scheduleOf(*schedule) : DictionaryAttr(),
                      bound.clipGradNorm ? builder.getF64FloatAttr(bound.clipGradNorm->norm) : FloatAttr(),
                      bound.nonfinite ? builder.getStringAttr(actionName(bound.nonfinite->action)) : StringAttr());
  for (const BoundRecompute &recompute : bound.recomputes)
    buildRecompute(recompute);
  for (const BoundData &data : bound.data)
    buildData(data);
  if (bound.microbatches.count > 1)
    MicrobatchesOp::create(builder, locate(bound.microbatches.range), bound.microbatches.count,
                           bound.microbatches.mean);
  if (bound.precision)
    buildPrecision(*bound.precision);
}

static TypeAttr typeAttrOf(StringRef name, MLIRContext *context) {
  Type type = llvm::StringSwitch<Type>(name)
                  .Case("f64", Float64Type::get(context))
                  .Case("f32", Float32Type::get(context))
                  .Case("bf16", BFloat16Type::get(context))
                  .Case("f16", Float16Type::get(context))
                  .Default({});
  return type ? TypeAttr::get(type) : TypeAttr();
}

DictionaryAttr StatementBuilder::scaleOf(const BoundLossScale &scale) const {
  NamedAttrList list;
  list.set("initial", builder.getF64FloatAttr(scale.initial));
  if (scale.interval > 0) {
    list.set("growth", builder.getF64FloatAttr(scale.growth));
    list.set("backoff", builder.getF64FloatAttr(scale.backoff));
    list.set("interval", builder.getI64IntegerAttr(scale.interval));
  }
  return list.getDictionary(builder.getContext());
}

void StatementBuilder::buildPrecision(const BoundPrecision &precision) {
  MLIRContext *context = builder.getContext();
  if (precision.activations == "f32")
    builder.getInsertionBlock()->getParentOp()->setAttr(wideActivationsName, builder.getUnitAttr());
  PrecisionOp::create(builder, locate(precision.range), typeAttrOf(precision.compute, context),
                      typeAttrOf(precision.storage, context), typeAttrOf(precision.gather, context),
                      typeAttrOf(precision.reduce, context), typeAttrOf(precision.master, context),
                      typeAttrOf(precision.state, context),
                      precision.lossScale ? scaleOf(*precision.lossScale) : DictionaryAttr());
}

static DataStage stageOf(const BoundData &data) {
  // The levels are nested as in ZeRO: a plan that shards parameters also shards gradients and the optimizer, because a
  // rank can only update its own shard.
  auto shards = [&](DataKind kind) { return llvm::is_contained(data.shard, kind); };
  if (shards(DataKind::Parameters))
    return DataStage::parameters;
  if (shards(DataKind::Gradients))
    return DataStage::gradients;
  return shards(DataKind::Optimizer) ? DataStage::optimizer : DataStage::replicated;
}

/// If gradients are sharded, a rank has no memory for whole gradients, unless the plan says otherwise.
static bool reducesEach(const BoundData &data) {
  ReduceTime usual =
      llvm::is_contained(data.shard, DataKind::Gradients) ? ReduceTime::EachMicrobatch : ReduceTime::LastMicrobatch;
  return data.reduce.value_or(usual) == ReduceTime::EachMicrobatch;
}

void StatementBuilder::buildData(const BoundData &data) {
  std::string text = "data";
  for (size_t axis : data.axes)
    text += (text == "data" ? " " : ", ") + bound.environment.mesh.axes[axis].name;
  int64_t ranks = 1;
  for (size_t axis : data.axes)
    ranks *= bound.environment.mesh.axes[axis].size;
  // Averaging after the collective divides the sum by the number of ranks; a single rank has nothing to divide.
  bool averagesAfter = data.average == AverageTime::AfterCollective && ranks > 1;
  int64_t prefetch = data.overlapParameters ? data.prefetch : 0;
  // A hybrid plan shards over some of its axes only and replicates over the others.
  SmallVector<AxisRefAttr> axes = axisRefs(data.shard.empty() ? data.axes : data.shardAxes);
  auto flag = [&](bool is) { return is ? builder.getUnitAttr() : UnitAttr(); };
  DataOp::create(builder, locate(data.range), DataStageAttr::get(builder.getContext(), stageOf(data)),
                 builder.getArrayAttr(SmallVector<Attribute>(axes.begin(), axes.end())),
                 data.bucketBytes ? builder.getI64IntegerAttr(*data.bucketBytes) : IntegerAttr(),
                 builder.getI64IntegerAttr(prefetch), builder.getStringAttr(text), flag(data.overlapGradients),
                 flag(reducesEach(data)), averagesAfter ? builder.getI64IntegerAttr(ranks) : IntegerAttr(),
                 flag(data.offloadParameters), flag(data.offloadOptimizer), flag(data.contiguousParameters),
                 flag(data.contiguousGradients), flag(data.registerBuffers));
}

/// The index of the parameter's unit in its own data statement, counted across all statements.
static std::optional<int64_t> unitOf(const BoundPlan &bound, const BoundData &own, size_t parameter) {
  int64_t number = 0;
  for (const BoundData &data : bound.data)
    for (const std::vector<size_t> &unit : data.unitParameters) {
      if (&data == &own && llvm::is_contained(unit, parameter))
        return number;
      ++number;
    }
  return std::nullopt;
}

void StatementBuilder::addData(size_t parameter, SmallVectorImpl<NamedAttribute> &attributes) const {
  for (auto [number, data] : llvm::enumerate(bound.data)) {
    if (!llvm::is_contained(data.parameters, parameter))
      continue;
    attributes.push_back(builder.getNamedAttr("plan.data", builder.getI64IntegerAttr(number)));
    if (std::optional<int64_t> unit = unitOf(bound, data, parameter))
      attributes.push_back(builder.getNamedAttr("plan.unit", builder.getI64IntegerAttr(*unit)));
    if (llvm::any_of(data.keep,
                     [&](const BoundPaths &paths) { return llvm::is_contained(paths.parameters, parameter); }))
      attributes.push_back(builder.getNamedAttr("plan.keep", builder.getUnitAttr()));
  }
}

void StatementBuilder::buildRecompute(const BoundRecompute &recompute) {
  SmallVector<StringRef> keep(recompute.keep.begin(), recompute.keep.end());
  for (const BoundPaths &paths : recompute.paths)
    for (size_t module : paths.modules)
      RecomputeOp::create(builder, locate(recompute.range), builder.getStringAttr(outline.model.modules[module].path),
                          builder.getStrArrayAttr(keep));
}

static StringRef distributionName(Distribution distribution) {
  static constexpr StringLiteral names[] = {"constant",        "uniform",        "normal",         "truncated_normal",
                                            "kaiming_uniform", "kaiming_normal", "xavier_uniform", "xavier_normal"};
  return names[static_cast<size_t>(distribution)];
}

void StatementBuilder::addInit(size_t parameter, SmallVectorImpl<NamedAttribute> &attributes) const {
  if (!bound.init)
    return;
  const BoundInitEntry &entry = bound.init->entries[bound.init->entryOf[parameter]];
  const InitialValues &values = entry.values;
  NamedAttrList list;
  list.set("kind", builder.getStringAttr(distributionName(values.distribution)));
  auto add = [&](StringRef name, double number) { list.set(name, builder.getF64FloatAttr(number)); };
  switch (values.distribution) {
  case Distribution::Constant:
    add("value", values.value);
    break;
  case Distribution::TruncatedNormal:
  case Distribution::Normal:
    add("mean", values.mean);
    add("std", values.std);
    if (values.distribution == Distribution::Normal)
      break;
    [[fallthrough]];
  case Distribution::Uniform:
    add("low", values.low);
    add("high", values.high);
    break;
  default:
    // The width depends on the fan, which is known only when the dims of the weight have their roles: plan-place-init
    // computes it, and reports errors at `place`.
    add("gain", values.gain);
    list.set("fan", builder.getStringAttr(values.isFanOut ? "out" : "in"));
    list.set("text", builder.getStringAttr(entry.text));
    list.set("place", LocationAttr(locate(entry.paths.range)));
  }
  attributes.push_back(builder.getNamedAttr("plan.init", list.getDictionary(builder.getContext())));
}
