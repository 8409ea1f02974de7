//===- place_borders.cpp - stated layouts become constraints --------------===//
//
// See PlaceBorders in passes.td. Runs after PlaceStyles.
//
//===----------------------------------------------------------------------===//

#include "compiler/sharding/blocks/dim_blocks.h"
#include "compiler/sharding/dataflow/module_border.h"
#include "compiler/sharding/dataflow/routed_values.h"
#include "compiler/support/layer_names.h"
#include "compiler/transforms/place/passes.h"
#include "dialect/plan/module_runs.h"
#include "dialect/plan/updates.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/SetVector.h"

namespace meshplan {
#define GEN_PASS_DEF_PLACEBORDERS
#include "compiler/transforms/place/passes.h.inc"
} // namespace meshplan

using namespace mlir;
using namespace meshplan;
using namespace meshplan::plan;

namespace {

/// Places the borders of one function.
class BorderPlacer {
public:
  BorderPlacer(func::FuncOp function, MeshOp mesh)
      : function(function), mesh(mesh), blocks(function), routed(function) {}

  LogicalResult place(BorderOp border);

private:
  /// The runs of a module, in program order; a single one if the path is never called.
  SmallVector<ModuleRun> runsOf(StringRef path);
  bool isInside(Operation *op, ModuleRun module) const;
  Value sourceOf(Value operand, ModuleRun module) const;
  llvm::SetVector<Value> inputsOf(ModuleRun module);
  llvm::SetVector<Value> outputsOf(ModuleRun module);
  LogicalResult placeReturned(BorderOp border);
  LogicalResult placeAt(BorderOp border, ModuleRun module);
  LogicalResult reportMissing(BorderOp border, size_t count);
  /// False (after an error) if a dim has another size than its name.
  bool fitsNames(BorderOp border, RankedTensorType type);
  ShardingAttr layoutFor(BorderOp border, Value value);
  void constrainInput(BorderOp border, ModuleRun module, Value value, ShardingAttr layout);
  void constrainOutput(BorderOp border, ModuleRun module, Value value, ShardingAttr layout);
  /// True the first time: one statement applies to every layer, but is wrong once.
  bool isFirstReport(BorderOp border) { return reported.insert(border.getLoc()).second; }

  func::FuncOp function;
  MeshOp mesh;
  DimBlocks blocks;
  RoutedValues routed; ///< not inputs or outputs: their layouts follow from the experts
  llvm::DenseSet<Location> reported;
};

} // namespace

SmallVector<ModuleRun> BorderPlacer::runsOf(StringRef path) {
  llvm::SetVector<int64_t> numbers;
  function.walk([&](CallOp call) {
    if (call.isInModule(path))
      numbers.insert(moduleRun(call, path));
  });
  if (numbers.empty())
    numbers.insert(0);
  return llvm::map_to_vector(numbers, [&](int64_t run) { return ModuleRun{path, run}; });
}

bool BorderPlacer::isInside(Operation *op, ModuleRun module) const {
  // A constraint, and those before it, belong to the module of the op whose operand they constrain. A chain of
  // constraints may come from several statements; the op at its end tells for which reader they are.
  while (isa<ConstrainOp>(op) && op->hasOneUse())
    op = *op->user_begin();
  if (!isa<CallOp>(op))
    return module.path.empty() && !isa<func::ReturnOp>(op);
  return module.holds(op);
}

/// The value that a module reads as this operand, before the layouts that statements inside the module give it.
Value BorderPlacer::sourceOf(Value operand, ModuleRun module) const {
  // Otherwise the form that a style inside the module gives a value would count as an input of its own, and numbers of
  // inputs would depend on styles.
  for (auto constrain = operand.getDefiningOp<ConstrainOp>(); constrain && isInside(constrain, module);
       constrain = operand.getDefiningOp<ConstrainOp>())
    operand = constrain.getInput();
  return operand;
}

/// True for values that are computed, or inputs: not for weights, buffers and constants.
static bool isActivation(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  return argument ? argumentKind(argument) == ArgumentKind::input : !isa<ConstantOp>(value.getDefiningOp());
}

/// The values from outside, in the order in which the module first reads them.
llvm::SetVector<Value> BorderPlacer::inputsOf(ModuleRun module) {
  llvm::SetVector<Value> inputs;
  function.walk([&](CallOp call) {
    if (!isInside(call, module))
      return;
    for (Value operand : call.getOperands()) {
      Value source = sourceOf(operand, module);
      Operation *producer = source.getDefiningOp();
      if (isActivation(source) && !routed.get(source) &&
          !(isa_and_nonnull<CallOp>(producer) && isInside(producer, module)))
        inputs.insert(source);
    }
  });
  return inputs;
}

/// The value after the layouts that styles and borders of the module, or of an inner module, state for its outputs:
/// these come first.
static Value behindOwnStatements(Value result, ModuleRun module) {
  // The border encloses the statements of inner modules: what they produce is what leaves the module.
  for (Operation *user : result.getUsers()) {
    auto constrain = dyn_cast<ConstrainOp>(user);
    StringAttr path = constrain ? moduleOfOutput(constrain) : StringAttr();
    if (path && (path.getValue() == module.path || meshplan::isInside(path.getValue(), module.path)))
      return behindOwnStatements(constrain.getResult(), module);
  }
  return result;
}

/// The values that are read outside, in the order in which the module computes them.
llvm::SetVector<Value> BorderPlacer::outputsOf(ModuleRun module) {
  llvm::SetVector<Value> outputs;
  function.walk([&](CallOp call) {
    if (!isInside(call, module))
      return;
    for (Value result : call.getResults()) {
      result = behindOwnStatements(result, module);
      auto isOutside = [&](OpOperand &use) { return !isInside(use.getOwner(), module) && !isUpdate(use); };
      if (!routed.get(result) && llvm::any_of(result.getUses(), isOutside))
        outputs.insert(result);
    }
  });
  return outputs;
}

LogicalResult BorderPlacer::reportMissing(BorderOp border, size_t count) {
  if (!isFirstReport(border))
    return failure();
  StringRef side = border.getIsInput() ? "input" : "output";
  auto diagnostic = border.emitError() << moduleText(border.getModule()) << " has " << count << " " << side
                                       << (count == 1 ? "" : "s") << ", and '" << border.getText() << "' names " << side
                                       << " " << border.getIndex();
  diagnostic.attachNote() << "help: inputs and outputs count from 0 in the order of the program";
  return failure();
}

static std::string nameOf(BorderOp border) {
  std::string side = border.getIsInput() ? "input " : "output ";
  return side + std::to_string(border.getIndex()) + " of " + moduleText(border.getModule());
}

static void reportRank(BorderOp border, int64_t rank) {
  int64_t stated = border.getLayout().getRank();
  auto diagnostic = border.emitError() << nameOf(border) << " has " << rank << " dims, ";
  if (border.getExact())
    diagnostic << "and the plan lists " << stated;
  else
    diagnostic << "and no dim " << stated - 1;
  diagnostic.attachNote() << (border.getExact() ? "help: list each dim, with '_' for one without a name"
                                                : "help: dims count from 0");
}

bool BorderPlacer::fitsNames(BorderOp border, RankedTensorType type) {
  ArrayRef<int64_t> extents = border.getExtents().value_or(ArrayRef<int64_t>());
  for (auto [dim, extent] : llvm::enumerate(extents)) {
    if (extent == 0 || extent == type.getDimSize(dim))
      continue;
    if (isFirstReport(border)) {
      auto diagnostic = border.emitError()
                        << "dim " << dim << " of " << nameOf(border) << " has size " << type.getDimSize(dim) << ", and "
                        << "'" << cast<StringAttr>((*border.getNames())[dim]).getValue() << "' is " << extent;
      diagnostic.attachNote() << "help: '_' leaves a dim unnamed";
    }
    return false;
  }
  return true;
}

/// The layout with the rank of the value, in the value's blocks; null (after an error) if ranks or names do not fit.
ShardingAttr BorderPlacer::layoutFor(BorderOp border, Value value) {
  int64_t rank = cast<RankedTensorType>(value.getType()).getRank();
  ShardingAttr stated = border.getLayout();
  if (stated.getRank() > rank || (border.getExact() && stated.getRank() != rank)) {
    if (isFirstReport(border))
      reportRank(border, rank);
    return {};
  }
  if (!fitsNames(border, cast<RankedTensorType>(value.getType())))
    return {};
  ShardingAttr layout = ShardingAttr::getReplicated(border.getContext(), rank);
  for (auto [dim, sharding] : llvm::enumerate(stated.getDims())) {
    SmallVector<AxisRefAttr> axes;
    llvm::copy_if(sharding.getAxes(), std::back_inserter(axes),
                  [&](AxisRefAttr axis) { return resolveAxis(axis, mesh).size > 1; });
    layout = layout.withDim(dim, blocks.divide(value, dim, axes, mesh));
  }
  return layout;
}

void BorderPlacer::constrainInput(BorderOp border, ModuleRun module, Value value, ShardingAttr layout) {
  // The border comes before the statements inside the module.
  for (OpOperand &use : llvm::make_early_inc_range(value.getUses())) {
    if (!isa<CallOp, ConstrainOp>(use.getOwner()) || !isInside(use.getOwner(), module))
      continue;
    OpBuilder builder(use.getOwner());
    auto constrain = ConstrainOp::create(builder, border.getLoc(), value.getType(), value, layout, border.getAxes(),
                                         border.getTextAttr());
    markInput(constrain, border.getModule());
    use.set(constrain);
  }
}

static ConstrainOp constrainBehind(BorderOp border, Value value, ShardingAttr layout) {
  OpBuilder builder(border.getContext());
  builder.setInsertionPointAfterValue(value);
  auto constrain = ConstrainOp::create(builder, border.getLoc(), value.getType(), value, layout, border.getAxes(),
                                       border.getTextAttr());
  markOutput(constrain, border.getModule());
  return constrain;
}

void BorderPlacer::constrainOutput(BorderOp border, ModuleRun module, Value value, ShardingAttr layout) {
  auto constrain = constrainBehind(border, value, layout);
  // Readers inside the module keep the value before the border.
  value.replaceUsesWithIf(
      constrain, [&](OpOperand &use) { return use.getOwner() != constrain && !isInside(use.getOwner(), module); });
}

/// Places one output of the function, which may return a value more than once.
LogicalResult BorderPlacer::placeReturned(BorderOp border) {
  Operation *result = function.getBody().front().getTerminator();
  // Updates of buffers come last.
  size_t count = llvm::count_if(result->getOpOperands(), [](OpOperand &use) { return !isUpdate(use); });
  if (border.getIndex() >= count)
    return reportMissing(border, count);
  OpOperand &output = result->getOpOperand(border.getIndex());
  ShardingAttr layout = layoutFor(border, output.get());
  if (layout)
    output.set(constrainBehind(border, output.get(), layout));
  return success(layout != nullptr);
}

LogicalResult BorderPlacer::place(BorderOp border) {
  if (border.getModule().empty() && !border.getIsInput())
    return placeReturned(border);
  for (ModuleRun module : runsOf(border.getModule()))
    if (failed(placeAt(border, module)))
      return failure();
  return success();
}

LogicalResult BorderPlacer::placeAt(BorderOp border, ModuleRun module) {
  llvm::SetVector<Value> values = border.getIsInput() ? inputsOf(module) : outputsOf(module);
  int64_t index = border.getIndex();
  if (index < 0 || index >= static_cast<int64_t>(values.size()))
    return reportMissing(border, values.size());
  Value value = values[index];
  ShardingAttr layout = layoutFor(border, value);
  if (!layout)
    return failure();
  if (border.getIsInput())
    constrainInput(border, module, value, layout);
  else
    constrainOutput(border, module, value, layout);
  return success();
}

namespace {
struct PlaceBordersPass : meshplan::impl::PlaceBordersBase<PlaceBordersPass> {
  void runOnOperation() final {
    ModuleOp module = getOperation();
    SmallVector<BorderOp> borders(module.getOps<BorderOp>());
    // Inner modules come first, so that outer statements enclose them.
    llvm::stable_sort(borders,
                      [](BorderOp left, BorderOp right) { return left.getModule().size() > right.getModule().size(); });
    bool failedAny = false;
    if (borders.empty())
      return;
    for (auto function : module.getOps<func::FuncOp>()) {
      BorderPlacer placer(function, getMesh(module));
      for (BorderOp border : borders)
        failedAny |= failed(placer.place(border));
    }
    for (BorderOp border : borders)
      border.erase();
    if (failedAny)
      signalPassFailure();
  }
};
} // namespace
