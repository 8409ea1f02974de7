//===- messages.cpp - diagnostics of propagation --------------------------===//

#include "compiler/transforms/propagate/messages.h"
#include "compiler/sharding/dataflow/attention_heads.h"
#include "compiler/sharding/dataflow/module_border.h"
#include "compiler/sharding/families/class_losses.h"
#include "compiler/sharding/layout_text.h"
#include "compiler/support/layer_names.h"
#include "compiler/support/parts_clause.h"
#include "dialect/plan/attributes.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace meshplan;
using namespace meshplan::plan;

bool DividingStatement::takesParts() const {
  StyleOp op = style;
  return placesWeight || (op && (op.getKind() == StyleKind::colwise || op.getKind() == StyleKind::rowwise));
}

static bool sums(const CallView &view) {
  FactorRule rule = factorRuleOf(view, OpRegistry::get().lookup(view.target));
  return llvm::any_of(rule.factors, [](const Factor &factor) { return factor.kind == FactorKind::sum; });
}

/// The name of the parts of a divided dim: heads of the attention that the value reaches, if there is one. The search
/// stops at products with weights, after which parts are unrelated.
static StringRef nameOfParts(Value value) {
  SmallVector<Value> open{value};
  llvm::DenseSet<Value> seen{value};
  for (size_t i = 0; i < open.size(); ++i)
    for (OpOperand &use : open[i].getUses()) {
      auto call = dyn_cast<CallOp>(use.getOwner());
      if (!call)
        continue;
      CallView view = CallView::of(call);
      if (view.target == "meshplan.attention")
        return view.getOperand("query") == use.getOperandNumber() ? "heads" : "KV heads";
      for (Value result : call.getResults())
        if (!sums(view) && seen.insert(result).second)
          open.push_back(result);
    }
  return "groups";
}

/// The module that computes the value.
static StringRef producingModule(Value value, CallOp user) {
  auto producer = value.getDefiningOp<CallOp>();
  return (producer ? producer : user).getModule().value_or("");
}

/// Reports a divided dim that is within one head.
static void helpWithHead(InFlightDiagnostic &diagnostic, const HeadUse &use) {
  std::string modules = projectionsOf(use);
  diagnostic.attachNote() << "help: a " << (use.isQuery ? "head" : "KV head")
                          << " cannot be split: use 'replicate' for " << (modules.empty() ? "its producer" : modules);
}

/// The attention in which the statement cuts a head along a dim of the value.
static std::optional<HeadUse> headCutBy(const DividingStatement &statement, Value value, unsigned dim) {
  return statement.takesParts() ? findHeadSize(value, dim) : std::nullopt;
}

static void reportCutHead(Value operand, CallOp call, const Misfit &misfit, const HeadUse &use, MeshOp mesh,
                          const DividingStatement &statement) {
  StringRef module = projectionThatComputes(operand, misfit.dim);
  auto diagnostic = emitError(statement.location);
  diagnostic << "dim " << misfit.dim << " of size " << cast<RankedTensorType>(operand.getType()).getDimSize(misfit.dim)
             << " of " << moduleText(module.empty() ? producingModule(operand, call) : module) << " is inside a "
             << (use.isQuery ? "head" : "KV head") << ", and sharding it over " << axisText(misfit.axis) << " = "
             << axisSize(misfit.axis, mesh) << " would split the head";
  if (StyleOp style = statement.style; style && !style.getParts().empty())
    diagnostic.attachNote() << "help: leave out 'parts': they are for weights of several projections";
  else
    helpWithHead(diagnostic, use);
}

static void printSizes(InFlightDiagnostic &diagnostic, ArrayRef<int64_t> sizes) {
  llvm::interleaveComma(sizes, diagnostic);
}

/// The sizes of the parts of a dim that is divided in parts; else empty.
static SmallVector<int64_t> statedParts(Value operand, unsigned dim) {
  return llvm::map_to_vector(getSharding(operand).getDims()[dim].getParts(),
                             [](const DimPart &part) { return part.extent; });
}

/// The parts of the weight that computes a dim which a statement divides, as `partsOf` returns them from the model.
/// Empty if there are none, if the weight is unknown, or if the statement has the same parts.
static SmallVector<int64_t>
partsOfWeight(Value value, unsigned dim, const DividingStatement &statement,
              llvm::function_ref<SmallVector<int64_t>(BlockArgument argument, int64_t dim)> partsOf) {
  StringRef module = projectionThatComputes(value, dim);
  if (!statement.takesParts() || (module.empty() && !statement.placesWeight))
    return {};
  for (BlockArgument argument : value.getParentRegion()->getArguments()) {
    bool isRead = statement.placesWeight || llvm::any_of(argument.getUsers(), [&](Operation *user) {
                    auto reader = dyn_cast<CallOp>(user);
                    return reader && reader.getModule().value_or("") == module;
                  });
    if (!isRead || !isWeight(argument) || argument.getLoc() != statement.location)
      continue;
    for (auto [index, sharding] : llvm::enumerate(getSharding(argument).getDims())) {
      SmallVector<int64_t> sizes = partsOf(argument, index), stated = statedParts(argument, index);
      if (!sharding.getAxes().empty() && !sizes.empty())
        return !stated.empty() && partsClause(sizes) == partsClause(stated) ? SmallVector<int64_t>() : sizes;
    }
  }
  return {};
}

static std::string smallestPartHelp(AxisRefAttr axis, int64_t smallest) {
  return ("help: " + axisText(axis) + " can be at most " + Twine(smallest) + ", the size of the smallest part").str();
}

/// Reports a value that an operator splits along the divided dim.
static void reportPartsAsOne(CallOp call, unsigned index, const Misfit &misfit, const FactorRule &rule,
                             const DividingStatement &statement, ArrayRef<int64_t> ofWeight, MeshOp mesh,
                             const StatedLayouts &statements) {
  Value operand = call.getOperands()[index];
  SmallVector<int64_t> sizes = llvm::map_to_vector(rule.operands[index].dims[misfit.dim],
                                                   [&](unsigned factor) { return rule.factors[factor].size; });
  SmallVector<int64_t> stated = statedParts(operand, misfit.dim);
  auto diagnostic = emitError(statement.location);
  diagnostic << operatorText(call.getTarget(), call.getModule()) << " reads dim " << misfit.dim << " of "
             << moduleText(producingModule(operand, call)) << " as parts of ";
  printSizes(diagnostic, sizes);
  diagnostic << ", but it is split over " << axisText(misfit.axis) << " as ";
  if (stated.empty())
    diagnostic << "a whole";
  else
    printSizes(diagnostic << "parts of ", stated);
  Diagnostic &help = diagnostic.attachNote();
  std::string whole = wholeAtBorder(call->getOpOperand(index), misfit.dim, statements);
  ArrayRef<int64_t> parts = ofWeight.empty() ? ArrayRef(sizes) : ofWeight;
  int64_t smallest = *llvm::min_element(parts);
  if (statement.takesParts() && smallest < axisSize(misfit.axis, mesh))
    help << smallestPartHelp(misfit.axis, smallest)
         << (whole.empty() ? "" : "; or gather it with '" + whole + "' before it is split into parts");
  else if (statement.takesParts())
    help << partsHelp(parts);
  else if (!whole.empty())
    help << "help: gather it with '" << whole << "' before it is split into parts";
  else
    help << "help: split another dim, or let the modules before it gather this one with 'output'";
}

/// The help for a dim divided in parts that do not fit. Either the plan states the parts, then they should be left out
/// (`why` follows), or they come from values that the model concatenates.
static std::string otherPartsHelp(OpOperand &operand, unsigned dim, const DividingStatement &statement,
                                  const StatedLayouts &statements, const Twine &why = "") {
  if (StyleOp style = statement.style; !style || !style.getParts().empty())
    return ("help: leave out 'parts'" + why).str();
  std::string whole = wholeAtBorder(operand, dim, statements);
  return whole.empty()
             ? "help: these are the parts that the model concatenates; split another dim, or let the modules before "
               "gather them with 'output'"
             : "help: these are the parts that the model concatenates; gather them before with '" + whole + "'";
}

/// Reports a dim whose parts are not the parts that the call sees.
static void reportOtherParts(InFlightDiagnostic &diagnostic, ArrayRef<int64_t> stated, StringRef axis,
                             const std::string &help, ArrayRef<int64_t> ofWeight) {
  diagnostic << "but is split over " << axis << " in parts of ";
  printSizes(diagnostic, stated);
  diagnostic << ", which do not match them";
  if (ofWeight.empty())
    diagnostic.attachNote() << help;
  else
    diagnostic.attachNote() << partsHelp(ofWeight);
}

static bool isTakenApartAlong(CallOp call, const FactorRule &rule, ArrayRef<unsigned> factors);

/// True if single elements along a dim are taken, here or after operators that only move elements.
static bool isTakenApart(Value value, unsigned dim) {
  return llvm::any_of(value.getUses(), [&](OpOperand &use) {
    auto call = dyn_cast<CallOp>(use.getOwner());
    if (!call)
      return false;
    CallView view = CallView::of(call);
    const OpRecord *record = OpRegistry::get().lookup(view.target);
    if (picksAlong(view, use.getOperandNumber(), dim))
      return true;
    if (!record || !record->linearity || !record->linearity(view).movesElements)
      return false;
    FactorRule rule = factorRuleOf(view, record);
    return isTakenApartAlong(call, rule, rule.operands[use.getOperandNumber()].dims[dim]);
  });
}

/// The same for the dims of a call's results that have these factors.
static bool isTakenApartAlong(CallOp call, const FactorRule &rule, ArrayRef<unsigned> factors) {
  for (auto [result, tensor] : llvm::zip(call.getResults(), rule.results))
    for (auto [dim, own] : llvm::enumerate(tensor.dims))
      if (ArrayRef<unsigned>(own) == factors && isTakenApart(result, dim))
        return true;
  return false;
}

/// Number of elements of the dim's factors that are more major than this one.
static int64_t sizeAbove(ArrayRef<unsigned> dim, unsigned factor, const FactorRule &rule) {
  int64_t above = 1;
  for (unsigned index : dim.take_while([&](unsigned other) { return other != factor; }))
    above *= rule.factors[index].size;
  return above;
}

/// True unless the call needs each index of the factor whole, as it does for a window.
static bool canDivideBelow(ArrayRef<unsigned> dim, unsigned factor, const FactorRule &rule) {
  ArrayRef<unsigned> below = dim.drop_until([&](unsigned other) { return other == factor; }).drop_front();
  return llvm::none_of(below, [&](unsigned index) { return rule.factors[index].kind == FactorKind::whole; });
}

/// Reports a value that is divided part by part along a dim that an operator counts.
static void reportCountedParts(CallOp call, unsigned index, const Misfit &misfit, const DividingStatement &statement,
                               const StatedLayouts &statements) {
  auto diagnostic = emitError(statement.location);
  diagnostic << "dim " << misfit.dim << " of " << moduleText(producingModule(call.getOperands()[index], call))
             << " is split over " << axisText(misfit.axis) << " part by part, but "
             << operatorText(call.getTarget(), call.getModule())
             << " addresses its elements by their position in the whole tensor";
  // Dropout on the result of a fused weight runs before its parts are separated.
  diagnostic.attachNote() << (call.getTarget() == "meshplan.dropout"
                                  ? "help: replicate the weight with 'replicate', or split the parts in the model "
                                    "before the dropout"
                                  : otherPartsHelp(call->getOpOperand(index), misfit.dim, statement, statements));
}

void meshplan::reportMisfit(CallOp call, unsigned index, const Misfit &misfit, const FactorRule &rule, MeshOp mesh,
                            const DividingStatement &statement, const DimBlocks &blocks,
                            const StatedLayouts &statements) {
  Value operand = call.getOperands()[index];
  const TensorFactors &tensor = rule.operands[index];
  int64_t size = cast<RankedTensorType>(operand.getType()).getDimSize(misfit.dim);
  int64_t parts = rule.factors[misfit.factor].size, above = sizeAbove(tensor.dims[misfit.dim], misfit.factor, rule);
  // The parts of a weight's dim are separated by a split, or counted by a view and then selected.
  bool areParts = above == 1 && isTakenApartAlong(call, rule, misfit.factor);
  SmallVector<int64_t> ofWeight = partsOfWeight(operand, misfit.dim, statement, [&](Value weight, int64_t dim) {
    return areParts ? blocks.partsCounted(weight, dim, parts) : blocks.partsOf(weight, dim);
  });
  if (rule.factors[misfit.factor].isCounted && !statedParts(operand, misfit.dim).empty())
    return reportCountedParts(call, index, misfit, statement, statements);
  if (tensor.isJoined(misfit.dim)) {
    if (std::optional<HeadUse> use = headCutBy(statement, operand, misfit.dim))
      return reportCutHead(operand, call, misfit, *use, mesh, statement);
    return reportPartsAsOne(call, index, misfit, rule, statement, ofWeight, mesh, statements);
  }
  SmallVector<int64_t> stated = statedParts(operand, misfit.dim);
  StringRef name = areParts ? "parts" : nameOfParts(call.getResult(0));
  std::string axis = axisText(misfit.axis);
  int64_t shards = axisSize(misfit.axis, mesh);
  auto diagnostic = emitError(statement.location);
  diagnostic << "dim " << misfit.dim << " of size " << size << " of " << moduleText(producingModule(operand, call))
             << " is ";
  if (above != 1)
    diagnostic << above << " x ";
  diagnostic << parts << " " << name << " of " << size / above / parts << ", ";
  std::string how = (areParts ? "into parts of " + Twine(size / above / parts) : "by " + name).str();
  if (!stated.empty() && above != static_cast<int64_t>(stated.size()))
    return reportOtherParts(diagnostic, stated, axis,
                            otherPartsHelp(call->getOpOperand(index), misfit.dim, statement, statements,
                                           ": the model splits this weight " + how),
                            ofWeight);
  if (areParts && stated.empty() && !ofWeight.empty() && canDivideBelow(tensor.dims[misfit.dim], misfit.factor, rule)) {
    diagnostic << "but is split over " << axis << " as a whole";
    diagnostic.attachNote() << partsHelp(ofWeight);
    return;
  }
  if (parts < shards) {
    diagnostic << "fewer than " << axis << " = " << shards;
    diagnostic.attachNote() << "help: " << axis << " can be at most " << parts << " (" << name << ", not columns)";
    return;
  }
  diagnostic << "and sharding over " << axis << " = " << shards << " would split one";
  diagnostic.attachNote() << "help: " << axis << " must divide " << parts << " (" << name << ", not columns)";
}

/// Adds a note for every other statement that divides the operand.
static void noteCauses(InFlightDiagnostic &diagnostic, Value operand, const Layouts &layouts, Location location) {
  for (AxisRefAttr axis : allAxes(getSharding(operand)))
    if (std::optional<Cause> cause = layouts.causeOf(operand, axis))
      if (cause->style && cause->location != location)
        diagnostic.attachNote(cause->location) << "also split by '" << cause->style.getValue() << "'";
}

/// True if an operator of this name is supported in another form: another overload has a record, or the importer
/// decomposes other calls of it.
static bool hasOtherForm(StringRef target) {
  StringRef name = target.rsplit('.').first;
  return isClassLoss(target) || name == "aten.scaled_dot_product_attention" ||
         llvm::any_of(OpRegistry::get().targets(), [&](StringRef other) { return other.rsplit('.').first == name; });
}

/// The text for an operator without a record: "operator 'custom.scan.default' in 'mixer'".
static std::string unknownText(CallOp call) {
  return (hasOtherForm(call.getTarget()) ? "this form of operator " : "operator ") +
         operatorText(call.getTarget(), call.getModule());
}

void meshplan::reportUnknownOperator(CallOp call, unsigned index, const Layouts &layouts, Location location) {
  auto diagnostic = emitError(location) << unknownText(call)
                                        << " has no record, and would read samples of several microbatches";
  noteCauses(diagnostic, call.getOperands()[index], layouts, location);
  diagnostic.attachNote() << "help: leave out 'microbatches', write 'mean' after it to take the mean of the "
                             "losses of microbatches, or add a record (docs/adding-an-op.md)";
}

/// An operator without a record reads replicated operands.
static void reportUnknownReshard(CallOp call, unsigned index, int64_t bytes, Location location, bool isError,
                                 const StatedLayouts &statements) {
  OpOperand &operand = call->getOpOperand(index);
  auto diagnostic = isError ? emitError(location) : emitWarning(location);
  diagnostic << unknownText(call) << " has no record and runs on whole tensors: its operand " << index
             << " is gathered from " << layoutText(cast<RankedTensorType>(operand.get().getType())) << "; " << bytes
             << " bytes per rank";
  std::string whole = wholeAtBorder(operand, statements);
  Diagnostic &help = diagnostic.attachNote();
  auto module = call->getParentOfType<ModuleOp>();
  help << "help: ";
  if (!module->hasAttr(attr::IsDecomposed::getNameStr()))
    help << "try 'ep.run_decompositions({})' before torch.export.save, ";
  help << "write it with other operators, or add a record (docs/adding-an-op.md)";
  if (!whole.empty())
    help << ", or ask for it with '" << whole << "'";
}

bool meshplan::reportMissingParts(CallOp call, unsigned index, ShardingAttr needed, MeshOp mesh,
                                  const DividingStatement &statement, const DimBlocks &blocks) {
  Value operand = call.getOperands()[index];
  CallView view = CallView::of(call);
  for (auto [dim, before, after] : llvm::enumerate(getSharding(operand).getDims(), needed.getDims())) {
    if (before.getAxes().empty() || !after.getAxes().empty() || !picksAlong(view, index, dim))
      continue;
    int64_t count = view.operands[index].getDimSize(dim);
    SmallVector<int64_t> sizes = partsOfWeight(
        operand, dim, statement, [&](Value weight, int64_t dim) { return blocks.partsCounted(weight, dim, count); });
    if (sizes.empty())
      continue;
    auto diagnostic = emitError(statement.location)
                      << "dim " << dim << " of " << moduleText(producingModule(operand, call)) << " has " << count
                      << " parts, which " << operatorText(call.getTarget(), call.getModule())
                      << " reads one by one, but it is split over " << before.getAxes().front().getName()
                      << " as a whole";
    int64_t smallest = *llvm::min_element(sizes);
    if (smallest < shardCount(before.getAxes(), mesh))
      diagnostic.attachNote() << smallestPartHelp(before.getAxes().front(), smallest);
    else
      diagnostic.attachNote() << partsHelp(sizes);
    return true;
  }
  return false;
}

/// The modules whose style could give the call the layouts that it needs: those that compute or read its operands, and
/// the one whose style divides them.
static llvm::SetVector<StringRef> sharersOf(CallOp call, unsigned index, StyleOp style) {
  llvm::SetVector<StringRef> modules;
  auto add = [&](Operation *op) {
    if (auto other = dyn_cast_or_null<CallOp>(op))
      modules.insert(other.getModule().value_or(""));
  };
  if (style)
    modules.insert(style.getModule());
  for (Value operand : call.getOperands())
    add(originOf(operand).getDefiningOp());
  for (OpOperand *use : usesAfterReshards(originOf(call.getOperand(index))))
    add(use->getOwner());
  return modules;
}

/// True for a running sum of one-hot vectors over the first dim, as that of the tokens of each expert in front of a
/// token.
static bool countsChoices(CallOp call) {
  CallView view = CallView::of(call);
  if (view.target != "aten.cumsum.default" ||
      !llvm::is_contained({int64_t(0), -view.operands.front().getRank()}, view.getInt("dim", 0)))
    return false;
  auto maker = originOf(call.getOperand(0)).getDefiningOp<CallOp>();
  while (maker && maker.getNumOperands() == 1 && maker.getTarget() == "aten.to.dtype")
    maker = originOf(maker.getOperand(0)).getDefiningOp<CallOp>();
  return maker && maker.getTarget() == "aten.one_hot.default";
}

void meshplan::reportUnstatedReshard(CallOp call, unsigned index, ShardingAttr needed, MeshOp mesh,
                                     const DividingStatement &statement, const StatedLayouts &statements,
                                     bool isError) {
  Value operand = call.getOperands()[index];
  RankedTensorType wanted = withSharding(operand.getType(), needed);
  if (!OpRegistry::get().lookup(call.getTarget()))
    return reportUnknownReshard(call, index, largestShardBytes(wanted, mesh), statement.location, isError, statements);
  auto diagnostic = isError ? emitError(statement.location) : emitWarning(statement.location);
  diagnostic << "nothing in the plan asks for this reshard: " << operatorText(call.getTarget(), call.getModule())
             << " needs " << layoutText(wanted) << ", and gets "
             << layoutText(cast<RankedTensorType>(operand.getType())) << "; " << largestShardBytes(wanted, mesh)
             << " bytes per rank";
  for (auto [dim, before, after] : llvm::enumerate(getSharding(operand).getDims(), needed.getDims()))
    if (before.getAxes().size() > after.getAxes().size())
      if (std::optional<HeadUse> use = headCutBy(statement, operand, dim))
        return helpWithHead(diagnostic, *use);
  Diagnostic &help = diagnostic.attachNote();
  if (call.getBackward()) {
    help << "help: every rank computes this derivative on whole tensors: replicate the values of the module, or write "
            "it "
            "with other operators";
    return;
  }
  if (countsChoices(call)) {
    help << "help: the model gives tokens their positions among those that chose the same expert, counted over all "
            "samples: count them over the positions of each sample, in dims [batch, positions, experts], or let a plan "
            "drop tokens with 'capacity'";
    return;
  }
  // A style is closer to its operators than any border.
  StyleOp own = statement.style;
  if (llvm::SetVector<StringRef> sharers = sharersOf(call, index, own); sharers.size() > 1)
    help << "help: give compatible styles to the modules that share these values";
  else if (own)
    help << "help: only " << moduleText(sharers.front())
         << " produces and reads these values: 'replicate' keeps them replicated";
  else
    help << "help: split another dim, or none";
  std::string border =
      own && call.isInModule(own.getModule()) ? "" : atBorder(call->getOpOperand(index), needed, statements);
  if (!border.empty())
    help << ", or ask for it with '" << border << "'";
}

void meshplan::reportGatheredTokens(CallOp route, Value indices, ArrayRef<AxisRefAttr> gathered,
                                    ArrayRef<AxisRefAttr> experts, const Cause &cause, MeshOp mesh) {
  int64_t count = shapeOf(route.getResult(0)).front(), ranks = shardCount(experts, mesh);
  auto warning = emitWarning(cause.location)
                 << "all ranks of " << axesText(gathered) << " compute the tokens of each other for their experts in "
                 << moduleText(route.getModule().value_or(""))
                 << ": tokens that go to the ranks of their experts alone need ";
  if (count % ranks != 0)
    warning << "as many experts on each of the " << ranks << " ranks, but there are " << count;
  else
    warning << "as many tokens on each of these ranks, but the tokens are "
            << layoutText(cast<RankedTensorType>(indices.getType()));
  Diagnostic &help = warning.attachNote();
  if (count % ranks != 0)
    help << "help: divide the experts over axes whose number of ranks divides " << count;
  else
    help << "help: change the batch, or write these axes last in its layout";
}

void meshplan::reportOtherDivision(ConstrainOp constrain, Value value, ShardingAttr to, MeshOp mesh,
                                   const std::optional<Cause> &other, bool isError) {
  RankedTensorType wanted = withSharding(value.getType(), to);
  auto diagnostic = isError ? emitError(constrain.getLoc()) : emitWarning(constrain.getLoc());
  diagnostic << "'" << constrain.getStyle() << "' splits its input as " << layoutText(wanted) << ", but it arrives as "
             << layoutText(cast<RankedTensorType>(value.getType())) << "; " << largestShardBytes(wanted, mesh)
             << " bytes per rank are redistributed";
  if (other && other->location != constrain.getLoc())
    diagnostic.attachNote(other->location) << "split by '" << other->style.getValue() << "'";
  diagnostic.attachNote() << "help: state the same 'parts' at both, or at neither";
}

void meshplan::reportSmallDim(ConstrainOp constrain, int64_t dim, int64_t shards) {
  auto diagnostic = constrain.emitError() << "'" << constrain.getStyle() << "' splits dim " << dim << " of size "
                                          << constrain.getInput().getType().getDimSize(dim) << " into " << shards
                                          << " shards, which leaves ranks without elements";
  diagnostic.attachNote() << "help: split it into at most as many shards as its size";
}
