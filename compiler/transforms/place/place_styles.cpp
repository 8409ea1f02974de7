//===- place_styles.cpp - styles become shardings -------------------------===//
//
// See PlaceStyles in passes.td. Runs on the imported program: calls have the
// path of their module; parameters are function arguments.
//
//===----------------------------------------------------------------------===//
//
// For each styled module: which of its parameters have the features (placeablesOf), which of these the style divides
// (placeFeatures), into which shards (argument_layouts.h), and which layout its activations get
// (constrainFeatureInputs).
//
// Example on a mesh dp = 2, tp = 3: `q_proj: colwise tp` with weight [576, 576] and bias [576], 9 heads of 64.
//
//   weight   output features are dim 0   [{tp}, {}]: 3 heads each
//   bias     output features are dim 0   [{tp}]
//   input x  of the module               [{}, {}, {}] along tp, dp is left as it is
//
// For `o_proj: rowwise tp` the weight is [{}, {tp}], the input [{}, {}, {tp}], and the bias, which has no input
// features, stays whole: it is added once, after the sum.

#include "compiler/sharding/axes.h"
#include "compiler/sharding/blocks/dim_blocks.h"
#include "compiler/sharding/dataflow/attention_heads.h"
#include "compiler/sharding/dataflow/expert_weights.h"
#include "compiler/sharding/dataflow/module_border.h"
#include "compiler/sharding/op_record.h"
#include "compiler/support/layer_names.h"
#include "compiler/transforms/place/argument_layouts.h"
#include "compiler/transforms/place/constrain_values.h"
#include "compiler/transforms/place/expert_styles.h"
#include "compiler/transforms/place/feature_dims.h"
#include "compiler/transforms/place/messages.h"
#include "compiler/transforms/place/passes.h"
#include "dialect/plan/attributes.h"
#include "dialect/plan/plan.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

namespace meshplan {
#define GEN_PASS_DEF_PLACESTYLES
#include "compiler/transforms/place/passes.h.inc"
} // namespace meshplan

using namespace mlir;
using namespace meshplan;
using namespace meshplan::plan;

namespace {

/// A styled module of one function, and its calls.
struct StyledModule {
  StyleOp style;
  SmallVector<CallOp> calls;
};

/// A dim of a parameter that a style may divide.
struct Placeable {
  BlockArgument parameter;
  FeatureUse use;
  FeatureDim feature;

  int64_t size() const { return cast<RankedTensorType>(parameter.getType()).getDimSize(feature.dim); }
};

/// Places the styles of one function.
class StylePlacer {
public:
  StylePlacer(func::FuncOp function, MeshOp mesh);

  LogicalResult run(ArrayRef<StyleOp> styles);

private:
  /// Adds each call to every styled module that contains it.
  void collect(ArrayRef<StyleOp> styles);
  LogicalResult place(StyledModule &module);
  /// True if the program contains neither operators nor parameters of the module.
  bool isUnused(StyledModule &module);

  //===--------------------------------------------------------------------===//
  // colwise and rowwise
  //===--------------------------------------------------------------------===//

  LogicalResult placeFeatures(StyledModule &module);
  LogicalResult placeFeature(StyledModule &module, const Placeable &placeable);
  SmallVector<Placeable> placeablesOf(StyledModule &module, FeatureFault &fault);
  void addPlaceable(StyledModule &module, BlockArgument parameter, bool isOwn, SmallVectorImpl<Placeable> &all,
                    FeatureFault &fault);
  //===--------------------------------------------------------------------===//
  // expert and within
  //===--------------------------------------------------------------------===//

  /// Divides the experts of weights, or the features inside of them.
  LogicalResult placeExperts(StyledModule &module);

  /// The parameters of the module at `path`, or the parameter of this name.
  llvm::SetVector<BlockArgument> ownedBy(StringRef path) const { return owned.lookup(path); }
  bool isPlacedInside(BlockArgument parameter, StringRef path);
  /// True for the style of a parameter instead of a module.
  bool isParameter(StyleOp style) const { return parameterNames.contains(style.getModuleAttr()); }

  /// Keeps a parameter replicated that computes the only KV head of its attention: each rank needs it for its query
  /// heads.
  LogicalResult keepWhole(StyleOp style, BlockArgument parameter);

  LogicalResult divide(StyleOp style, BlockArgument parameter, int64_t dim) {
    return layouts.divide(style, parameter, dim, style.getParts());
  }
  AxisList axesOf(StyleOp style) const { return meshplan::axesOf(style, mesh); }
  bool isFirstReport(StyleOp style) { return layouts.isFirstReport(style.getLoc()); }

  /// colwise: activations are whole. rowwise: they are divided in the dim that meets the input features of the weight.
  void constrainFeatureInputs(StyledModule &module, const FeatureUse &use);

  /// The style of the module that owns a parameter and keeps it replicated, or null.
  StyleOp styleOf(BlockArgument parameter);

  func::FuncOp function;
  MeshOp mesh;
  DimBlocks blocks;
  FeatureSearch search;
  ExpertStyles expertStyles;
  ArgumentLayouts layouts;
  llvm::StringMap<llvm::SetVector<BlockArgument>> owned; ///< see ownedBy
  llvm::DenseSet<Attribute> parameterNames;
  llvm::MapVector<StringRef, SmallVector<StyledModule, 1>> modules;
};

} // namespace

StylePlacer::StylePlacer(func::FuncOp function, MeshOp mesh)
    : function(function), mesh(mesh), blocks(function), search(function), expertStyles(function, search, blocks),
      layouts(function, mesh, blocks) {
  for (BlockArgument argument : function.getArguments()) {
    auto names = argAttr<attr::Names>(function, argument.getArgNumber());
    if (!names || !isWeight(argument))
      continue;
    for (auto name : names.getAsRange<StringAttr>()) {
      parameterNames.insert(name);
      owned[name.getValue()].insert(argument);
      owned[name.getValue().contains('.') ? name.getValue().rsplit('.').first : StringRef()].insert(argument);
    }
  }
}

LogicalResult StylePlacer::run(ArrayRef<StyleOp> styles) {
  collect(styles);
  // Stated layouts come first: a style that contradicts one is reported at the style.
  bool failedAny = failed(layouts.readStated());
  for (auto &[path, styled] : modules)
    for (StyledModule &module : styled)
      failedAny |= failed(place(module));
  layouts.write([&](BlockArgument argument) { return styleOf(argument); });
  return failure(failedAny);
}

void StylePlacer::collect(ArrayRef<StyleOp> styles) {
  for (StyleOp style : styles)
    modules[style.getModule()].push_back({style, {}});
  function.walk([&](CallOp call) {
    // A style of the root applies only to its own operators, because all other modules are inside it.
    for (StringRef path = call.getModule().value_or("");; path = path.rsplit('.').first) {
      auto found = modules.find(path);
      if (found != modules.end())
        for (StyledModule &module : found->second)
          module.calls.push_back(call);
      if (!path.contains('.'))
        break;
    }
  });
}

bool StylePlacer::isUnused(StyledModule &module) {
  return module.calls.empty() &&
         llvm::all_of(ownedBy(module.style.getModule()), [](BlockArgument parameter) { return parameter.use_empty(); });
}

LogicalResult StylePlacer::place(StyledModule &module) {
  if (module.style.getKind() != StyleKind::replicate && isUnused(module))
    return isFirstReport(module.style) ? reportUnused(module.style, isParameter(module.style)) : failure();
  switch (module.style.getKind()) {
  case StyleKind::replicate:
    return success();
  case StyleKind::sequence:
    return placeSequence(module.style, module.calls, mesh, blocks, [&] { return isFirstReport(module.style); });
  case StyleKind::colwise:
  case StyleKind::rowwise:
    return placeFeatures(module);
  case StyleKind::expert:
  case StyleKind::within:
    return placeExperts(module);
  }
  llvm_unreachable("unknown style");
}

LogicalResult StylePlacer::placeExperts(StyledModule &module) {
  llvm::SetVector<BlockArgument> own = ownedBy(module.style.getModule());
  ExpertModule experts{module.style.getModule(), module.calls, own};
  bool isWithin = module.style.getKind() == StyleKind::within;
  SmallVector<ExpertDivision> divisions =
      isWithin ? expertStyles.within(experts) : expertStyles.expert(experts, shardCount(axesOf(module.style), mesh));
  if (divisions.empty()) {
    if (!isFirstReport(module.style))
      return failure();
    return (isWithin ? reportNoFeaturesInside : reportNoExperts)(module.style, function);
  }
  for (const auto &[weight, dim, parts] : divisions)
    if (failed(layouts.divide(module.style, weight, dim, parts)))
      return failure();
  return success();
}

static bool isMatrix(BlockArgument parameter) { return cast<RankedTensorType>(parameter.getType()).getRank() > 1; }

/// True for a weight that is more than a bias.
static bool isWeightOf(const Placeable &placeable) {
  return placeable.feature.meets && placeable.size() != 1 && isMatrix(placeable.parameter);
}

LogicalResult StylePlacer::placeFeatures(StyledModule &module) {
  FeatureFault fault;
  SmallVector<Placeable> all = placeablesOf(module, fault);
  // Dividing a bias while its weight stays replicated would gain nothing.
  bool isWeightUnknown = fault.parameter && isMatrix(fault.parameter) && llvm::none_of(all, isWeightOf);
  if (all.empty() || isWeightUnknown)
    return isFirstReport(module.style) ? reportNoFeatures(module.style, fault, isParameter(module.style)) : failure();
  auto isMet = [](const Placeable &placeable) { return placeable.feature.meets && placeable.size() != 1; };
  if (llvm::any_of(all, isMet)) {
    // Single features, and features that only another factor of a product has, stay whole if there are others.
    llvm::erase_if(all, [&](const Placeable &placeable) { return !isMet(placeable); });
  } else if (llvm::any_of(all, [](const Placeable &placeable) { return placeable.size() != 1; })) {
    llvm::erase_if(all, [](const Placeable &placeable) { return placeable.size() == 1; });
  } else {
    // All have a single feature, so that division fails for more than one shard: it makes the error.
    return divide(module.style, all.back().parameter, all.back().feature.dim);
  }
  for (const Placeable &placeable : all)
    if (failed(placeFeature(module, placeable)))
      return failure();
  return success();
}

LogicalResult StylePlacer::placeFeature(StyledModule &module, const Placeable &placeable) {
  const auto &[parameter, use, feature] = placeable;
  bool staysWhole = module.style.getKind() == StyleKind::colwise && !axesOf(module.style).empty() &&
                    isOnlyKeyHead(parameter, feature.dim, 0, placeable.size());
  if (failed(staysWhole ? keepWhole(module.style, parameter) : divide(module.style, parameter, feature.dim)))
    return failure();
  if (feature.meets)
    constrainFeatureInputs(module, use);
  return success();
}

/// The parameters that the module owns, and those of other modules that its operators read. If a module has a weight of
/// its own, parameters of others are left to their own statements.
SmallVector<Placeable> StylePlacer::placeablesOf(StyledModule &module, FeatureFault &fault) {
  StringRef path = module.style.getModule();
  SmallVector<Placeable> all;
  llvm::SetVector<BlockArgument> own = ownedBy(path), read, readIndirectly;
  for (CallOp call : module.calls)
    for (Value operand : call.getOperands()) {
      for (BlockArgument parameter : search.weightsThatFeed(operand))
        (isWeight(operand) ? read : readIndirectly).insert(parameter);
    }
  auto add = [&](const llvm::SetVector<BlockArgument> &parameters, bool isOwn) {
    for (BlockArgument parameter : parameters)
      if ((isOwn || !own.contains(parameter)) && !isPlacedInside(parameter, path))
        addPlaceable(module, parameter, isOwn, all, fault);
  };
  add(own, /*isOwn=*/true);
  // For example a bias of its own beside the weight of another module, or a function without parameters: then the
  // operators of the module tell which parameters the statement means.
  if (llvm::none_of(all, isWeightOf))
    add(read, /*isOwn=*/false);
  if (all.empty())
    add(readIndirectly, /*isOwn=*/false);
  return all;
}

void StylePlacer::addPlaceable(StyledModule &module, BlockArgument parameter, bool isOwn,
                               SmallVectorImpl<Placeable> &all, FeatureFault &fault) {
  StringRef path = module.style.getModule();
  // For a tied parameter, the module that owns it under this name tells the features, if it reads the parameter.
  if (isParameter(module.style))
    path = path.contains('.') ? path.rsplit('.').first : "";
  FeatureUse use = isOwn ? search.find(parameter, path) : search.findIn(parameter, path);
  std::optional<FeatureDim> feature = use.of(module.style.getKind() == StyleKind::colwise);
  if (feature && feature->isDivisible) {
    all.push_back({parameter, std::move(use), *feature});
    return;
  }
  if (use.meeting && CallView::of(use.meeting).getInt("groups", 1) > 1)
    fault.grouped = use.meeting;
  if (CallOp call = feature ? use.meeting : use.unknown; call && argumentKind(parameter) == ArgumentKind::parameter)
    fault = {parameter, call, feature.has_value(), fault.grouped};
}

LogicalResult StylePlacer::keepWhole(StyleOp style, BlockArgument parameter) {
  if (isFirstReport(style))
    warnOfOnlyKeyHead(style, parameter, axesOf(style), mesh);
  int64_t rank = cast<RankedTensorType>(parameter.getType()).getRank();
  return layouts.claim(style, parameter, ShardingAttr::getReplicated(parameter.getContext(), rank));
}

/// True if the parameter, or a module inside `path` that owns it, has a style of its own. An example is the projection
/// of nn.MultiheadAttention, whose weight the attention reads.
bool StylePlacer::isPlacedInside(BlockArgument parameter, StringRef path) {
  StyleOp style = styleOf(parameter);
  return style && isInside(style.getModule(), path);
}

void StylePlacer::constrainFeatureInputs(StyledModule &module, const FeatureUse &use) {
  bool colwise = module.style.getKind() == StyleKind::colwise;
  for (const ActivationUse &activation : use.activations) {
    auto type = cast<RankedTensorType>(activation.operand->get().getType());
    ShardingAttr layout = ShardingAttr::getReplicated(type.getContext(), type.getRank());
    if (!colwise && activation.inputDim) {
      int64_t dim = *activation.inputDim;
      Value value = activation.operand->get();
      AxisList axes = axesOf(module.style);
      auto parts = layouts.partsOf(module.style.getParts(), shardCount(axes, mesh), value, dim);
      layout = layout.withDim(dim, blocks.divide(value, dim, axes, mesh, parts.value_or(SmallVector<DimPart>())));
    }
    constrainOperand(*activation.operand, layout, module.style);
  }
}

StyleOp StylePlacer::styleOf(BlockArgument parameter) {
  auto names = argAttr<attr::Names>(function, parameter.getArgNumber());
  if (!names || !isWeight(parameter))
    return nullptr;
  for (auto name : names.getAsRange<StringAttr>())
    if (auto *own = modules.find(name.getValue()); own != modules.end())
      return own->second.front().style;
  for (auto name : names.getAsRange<StringAttr>()) {
    auto [owner, leaf] = name.getValue().rsplit('.');
    auto *found = modules.find(leaf.empty() ? StringRef() : owner);
    if (found != modules.end())
      return found->second.front().style;
  }
  return nullptr;
}

namespace {

struct PlaceStylesPass : meshplan::impl::PlaceStylesBase<PlaceStylesPass> {
  void runOnOperation() final {
    ModuleOp module = getOperation();
    MeshOp mesh = getMesh(module);
    if (!mesh) {
      module.emitError("has no mesh");
      return signalPassFailure();
    }
    SmallVector<StyleOp> styles(module.getOps<StyleOp>());
    for (auto function : module.getOps<func::FuncOp>())
      if (failed(StylePlacer(function, mesh).run(styles)))
        return signalPassFailure();
  }
};

} // namespace
