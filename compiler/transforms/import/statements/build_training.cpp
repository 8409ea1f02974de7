//===- build_training.cpp - statements of training as ops -----------------===//

#include "compiler/transforms/import/build_statements.h"
#include "dialect/plan/attributes.h"
#include "runtime/schema/distribution.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace meshplan;
using namespace meshplan::plan;

OptimizerGroupAttr StatementBuilder::numbersOf(const OptimizerNumbers &numbers) const {
  auto number = [&](double value) { return builder.getF64FloatAttr(value); };
  return OptimizerGroupAttr::get(builder.getContext(), number(numbers.lr), number(numbers.weightDecay),
                                 number(numbers.beta1), number(numbers.beta2), number(numbers.eps),
                                 number(numbers.momentum), number(numbers.dampening), numbers.nesterov);
}

base::RateScheduleAttr StatementBuilder::scheduleOf(const LrSchedule &schedule) const {
  static constexpr base::RateKind kinds[] = {base::RateKind::constant, base::RateKind::linear, base::RateKind::cosine,
                                             base::RateKind::wsd};
  return base::RateScheduleAttr::get(builder.getContext(), kinds[static_cast<size_t>(schedule.kind)], schedule.warmup,
                                     schedule.steps, schedule.decay, builder.getF64FloatAttr(schedule.min));
}

static plan::NonfiniteAction actionOf(meshplan::NonfiniteAction action) {
  return action == meshplan::NonfiniteAction::Skip ? plan::NonfiniteAction::skip : plan::NonfiniteAction::stop;
}

static plan::OptimizerKind kindOf(meshplan::OptimizerKind kind) {
  return *plan::symbolizeOptimizerKind(optimizerName(kind));
}

/// The loss, and how the optimizer updates parameters.
void StatementBuilder::buildTraining() {
  LossOp::create(builder, locate(bound.loss->range), static_cast<int64_t>(bound.loss->output));
  SmallVector<Attribute> groups;
  for (const OptimizerGroup &group : bound.optimizer->groups)
    groups.push_back(numbersOf(group.numbers));
  const std::optional<LrSchedule> &schedule = bound.optimizer->schedule;
  OptimizerOp::create(builder, locate(bound.optimizer->range),
                      plan::OptimizerKindAttr::get(builder.getContext(), kindOf(bound.optimizer->kind)),
                      builder.getArrayAttr(groups), schedule ? scheduleOf(*schedule) : base::RateScheduleAttr(),
                      bound.clipGradNorm ? builder.getF64FloatAttr(bound.clipGradNorm->norm) : FloatAttr(),
                      bound.nonfinite
                          ? plan::NonfiniteActionAttr::get(builder.getContext(), actionOf(bound.nonfinite->action))
                          : plan::NonfiniteActionAttr());
  for (const BoundRecompute &recompute : bound.recomputes)
    buildRecompute(recompute);
  for (const BoundData &data : bound.data)
    buildData(data);
  // Halves are microbatches until plan-merge-halves makes one program of two.
  if (int64_t count = bound.microbatches.count * (bound.halves ? 2 : 1); count > 1)
    MicrobatchesOp::create(builder, locate(bound.microbatches.count > 1 ? bound.microbatches.range : *bound.halves),
                           count, bound.microbatches.mean);
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

plan::LossScaleAttr StatementBuilder::scaleOf(const BoundLossScale &scale) const {
  bool changes = scale.interval > 0;
  return plan::LossScaleAttr::get(builder.getContext(), builder.getF64FloatAttr(scale.initial),
                                  changes ? builder.getF64FloatAttr(scale.growth) : FloatAttr(),
                                  changes ? builder.getF64FloatAttr(scale.backoff) : FloatAttr(), scale.interval);
}

void StatementBuilder::buildPrecision(const BoundPrecision &precision) {
  MLIRContext *context = builder.getContext();
  if (precision.activations == "f32")
    setOpAttr<attr::WideActivations>(builder.getInsertionBlock()->getParentOp(), builder.getUnitAttr());
  PrecisionOp::create(builder, locate(precision.range), typeAttrOf(precision.compute, context),
                      typeAttrOf(precision.storage, context), typeAttrOf(precision.gather, context),
                      typeAttrOf(precision.reduce, context), typeAttrOf(precision.master, context),
                      typeAttrOf(precision.state, context),
                      precision.lossScale ? scaleOf(*precision.lossScale) : plan::LossScaleAttr());
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
    text += (text == "data" ? " " : ", ") + bound.environment.mesh.nameOf(axis);
  int64_t ranks = bound.environment.mesh.shardsOf(data.axes);
  // Averaging after the collective divides the sum by the number of ranks; a single rank has nothing to divide.
  bool averagesAfter = data.average == AverageTime::AfterCollective && ranks > 1;
  // Gathers that do not overlap are issued at their use, whatever the distance.
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
                 flag(data.contiguousGradients), flag(data.registerBuffers), flag(data.gathersInStep()));
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
    attributes.push_back(named<attr::Data>(builder.getI64IntegerAttr(number)));
    if (std::optional<int64_t> unit = unitOf(bound, data, parameter))
      attributes.push_back(named<attr::Unit>(builder.getI64IntegerAttr(*unit)));
    bool isKept = llvm::any_of(
        data.keep, [&](const BoundPaths &paths) { return llvm::is_contained(paths.parameters, parameter); });
    if (isKept || (data.gathersInStep() && bound.parameterUse[parameter] == ParameterUse::Trained))
      attributes.push_back(named<attr::Keep>(builder.getUnitAttr()));
  }
}

static plan::RoutingRule ruleOf(meshplan::RoutingRule rule) {
  switch (rule) {
  case meshplan::RoutingRule::Reserve:
    return plan::RoutingRule::reserve;
  case meshplan::RoutingRule::Capacity:
    return plan::RoutingRule::capacity;
  case meshplan::RoutingRule::Bias:
    return plan::RoutingRule::bias;
  }
  llvm_unreachable("unknown rule");
}

/// Without paths it is about the root, which contains all layers.
void StatementBuilder::buildRouting(const BoundRouting &routing) {
  plan::RoutingRule rule = ruleOf(routing.rule);
  auto build = [&](StringRef module, const SourceRange &range) {
    RoutingOp::create(builder, locate(range), rule, llvm::APFloat(routing.number), module, routing.text);
  };
  if (routing.paths.empty())
    build("", routing.range);
  for (const BoundPaths &paths : routing.paths)
    for (size_t module : paths.modules)
      build(outline.model.modules[module].path, paths.range);
}

void StatementBuilder::buildRecompute(const BoundRecompute &recompute) {
  SmallVector<StringRef> keep(recompute.keep.begin(), recompute.keep.end());
  for (const BoundPaths &paths : recompute.paths)
    for (size_t module : paths.modules)
      RecomputeOp::create(builder, locate(recompute.range), builder.getStringAttr(outline.model.modules[module].path),
                          builder.getStrArrayAttr(keep));
}

/// Of the distributions of the frontend those whose numbers are stated.
static base::InitKind initKindOf(Distribution distribution) {
  switch (distribution) {
  case Distribution::Uniform:
    return base::InitKind::uniform;
  case Distribution::Normal:
    return base::InitKind::normal;
  case Distribution::TruncatedNormal:
    return base::InitKind::truncated_normal;
  default:
    return base::InitKind::constant;
  }
}

/// The rule of a distribution whose width follows from the features of the parameter.
static std::optional<plan::InitRule> initRuleOf(Distribution distribution) {
  switch (distribution) {
  case Distribution::KaimingUniform:
    return plan::InitRule::kaiming_uniform;
  case Distribution::KaimingNormal:
    return plan::InitRule::kaiming_normal;
  case Distribution::XavierUniform:
    return plan::InitRule::xavier_uniform;
  case Distribution::XavierNormal:
    return plan::InitRule::xavier_normal;
  default:
    return std::nullopt;
  }
}

static base::InitAttr initOf(const InitialValues &values, Builder builder) {
  base::InitKind kind = initKindOf(values.distribution);
  auto number = [&](double value, bool isWanted) { return isWanted ? builder.getF64FloatAttr(value) : FloatAttr(); };
  bool isBounded = hasBounds(kind), isNormal = hasDeviation(kind);
  return base::InitAttr::get(builder.getContext(), kind, number(values.value, kind == base::InitKind::constant),
                             number(values.low, isBounded), number(values.high, isBounded),
                             number(values.mean, isNormal), number(values.std, isNormal), ElementsAttr());
}

void StatementBuilder::addInit(size_t parameter, SmallVectorImpl<NamedAttribute> &attributes) const {
  if (!bound.init)
    return;
  const BoundInitEntry &entry = bound.init->entries[bound.init->entryOf[parameter]];
  const InitialValues &values = entry.values;
  Attribute init = initOf(values, builder);
  // The width depends on the fan, which is known only when the dims of the weight have their roles: plan-place-init
  // computes it, and reports errors at the location of the statement.
  if (std::optional<plan::InitRule> rule = initRuleOf(values.distribution))
    init = plan::InitRuleOfAttr::get(builder.getContext(), *rule, builder.getF64FloatAttr(values.gain),
                                     values.isFanOut ? plan::FanKind::out : plan::FanKind::in,
                                     builder.getStringAttr(entry.text), LocationAttr(locate(entry.paths.range)));
  attributes.push_back(plan::named<plan::attr::Init>(init));
}
