//===- propagate_shardings.cpp - every value gets a sharding --------------===//
//
// See PropagateShardings in passes.td. Runs after `place`: arguments have their
// shardings, borders of styled modules their plan.constrain ops.
//
//===----------------------------------------------------------------------===//

#include "compiler/sharding/flat_calls.h"
#include "compiler/sharding/layout_text.h"
#include "compiler/sharding/partial_operands.h"
#include "compiler/sharding/units/dim_units.h"
#include "compiler/transforms/propagate/decide_call.h"
#include "compiler/transforms/propagate/layouts.h"
#include "compiler/transforms/propagate/messages.h"
#include "compiler/transforms/propagate/passes.h"
#include "compiler/transforms/propagate/split_addend.h"
#include "compiler/transforms/propagate/split_shared_sums.h"
#include "compiler/transforms/propagate/wanted_layout.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <set>

namespace meshplan {
#define GEN_PASS_DEF_PROPAGATESHARDINGS
#include "compiler/transforms/propagate/passes.h.inc"
} // namespace meshplan

using namespace mlir;
using namespace meshplan;
using namespace meshplan::plan;

namespace {

/// Over which microbatches it is a sum.
AxisList timeAxesOf(ShardingAttr sharding) {
  AxisList axes;
  llvm::copy_if(sharding.getPartialAxes(), std::back_inserter(axes), isTime);
  return axes;
}

AxisList toAxes(ArrayAttr axes) { return AxisList(axes.getAsRange<AxisRefAttr>()); }

using ModuleStyles = llvm::StringMap<SmallVector<StyleOp, 1>>;

/// Propagates through one function.
class Propagation {
public:
  /// `styles` by the paths of their modules.
  Propagation(func::FuncOp function, MeshOp mesh, const ModuleStyles &styles, bool strict)
      : function(function), mesh(mesh), styles(styles), strict(strict), units(function), layouts(mesh) {}

  LogicalResult run();

private:
  /// Goes on behind an error as if the results were whole, so that one run reports what else is wrong.
  void recover(Operation *op);

  /// True the first time that this is said of a place: one statement reaches every layer, and is wrong once.
  bool isNews(Location place, const Twine &what);
  void decideArgument(BlockArgument argument);

  /// What the plan says of an argument: its style, or that it is an input. Null if it says nothing.
  StringAttr styleOf(BlockArgument argument);
  LogicalResult visit(Operation *op);

  //===--------------------------------------------------------------------===//
  // Partial values
  //===--------------------------------------------------------------------===//

  /// Reduces `value` over `axis`: to where a consumer wants it divided, or else whole. Returns the reduced value, which
  /// all later consumers start from.
  Value reduce(Value value, AxisRefAttr axis, Operation *user);
  std::optional<Cause> causeOf(const WantedDim &wanted, AxisRefAttr axis);

  /// The dim divided by one more axis within its shards; nothing if a shard would be left without a unit.
  std::optional<DimShardingAttr> extended(Value value, int64_t dim, DimShardingAttr now, AxisRefAttr axis);
  Cause causeOf(Value value, AxisRefAttr axis);

  //===--------------------------------------------------------------------===//
  // Statements
  //===--------------------------------------------------------------------===//

  LogicalResult visitConstrain(ConstrainOp constrain);
  LogicalResult checkDivides(ConstrainOp constrain, int64_t dim, ArrayRef<AxisRefAttr> axes);
  /// The same axes on both sides of a border, and not the same elements on a rank, look right and move data.
  void reportDealtAnew(ConstrainOp constrain, Value value, ShardingAttr to);

  void visitMatch(MatchOp match);

  //===--------------------------------------------------------------------===//
  // Calls
  //===--------------------------------------------------------------------===//

  LogicalResult visitCall(CallOp call);
  /// Of a call that does not run on flat tensors.
  void gatherFlat(CallOp call);
  void decideFlat(CallOp call);
  CallProblem makeProblem(CallOp call, const FactorRule &rule);

  /// An addend stays one only if the call is linear in it and no other consumer needs the sum.
  void reducePartialOperands(CallOp call, const FactorRule &rule, const Linearity &linearity);
  static bool isPartialShared(CallOp call, AxisRefAttr axis);

  void placeReshards(CallOp call, const CallDecision &decision);

  /// Who divides an operand over an axis. A parameter that several modules read is divided by the statements of all;
  /// within one of these it is that one.
  std::optional<Cause> causeIn(CallOp call, Value operand, AxisRefAttr axis);

  /// `value`, an operand or result of the call, has its axes from the operands that gave them to the factors.
  void inheritCauses(CallOp call, const CallDecision &decision, Value value);

  void reportUnstated(CallOp call, unsigned index, ShardingAttr to);

  /// The statement that divides a value, if one is known.
  std::optional<Cause> statementBehind(Value value);
  /// That which divides what a reshard gathers or deals anew.
  std::optional<Cause> statementBehind(Value value, ShardingAttr to);
  /// True if the statement divides a parameter.
  bool dividesWeights(Location statement);

  /// The cause as messages tell it; of the call if there is none.
  DividingStatement toStatement(const std::optional<Cause> &cause, CallOp call);
  /// Reports an axis that the call cannot take if a statement divides a parameter over it: that is wrong, as where a
  /// fused weight has no parts. False for what follows from inputs and borders, which is gathered.
  bool refuseBlock(CallOp call, const FactorRule &rule, const std::pair<unsigned, ProjectionBlock> &blocked);

  /// An operator without a record runs replicated, on whole values.
  LogicalResult visitUnknown(CallOp call);

  /// A result inherits the statements behind its axes: of the operands that gave the factors, and of partial operands.
  void recordCauses(CallOp call, const CallDecision &decision);

  //===--------------------------------------------------------------------===//

  /// Outputs are never addends.
  LogicalResult visitReturn(func::ReturnOp output);

  func::FuncOp function;
  MeshOp mesh;
  const ModuleStyles &styles;
  bool strict;
  DimUnits units;
  bool strictFailure = false;
  bool hasFailed = false;
  std::set<std::pair<const void *, std::string>> reported; ///< places and what was said of them
  Layouts layouts;
  StatedLayouts statements;
};

} // namespace

LogicalResult Propagation::run() {
  for (BlockArgument argument : function.getArguments())
    decideArgument(argument);
  Block &block = function.getBody().front();
  // Operators are added while walking, behind the current one, and are visited too.
  for (Operation *op = &block.front(); op;) {
    if (failed(visit(op)))
      recover(op);
    Operation *next = op->getNextNode();
    if (isa<ConstrainOp, MatchOp>(op))
      op->erase();
    op = next;
  }
  if (!hasFailed)
    for (Operation &op : block)
      layouts.writeCauses(&op);
  return failure(hasFailed);
}

void Propagation::recover(Operation *op) {
  hasFailed = true;
  if (auto constrain = dyn_cast<ConstrainOp>(op))
    constrain.getResult().replaceAllUsesWith(layouts.current(constrain.getInput()));
  for (Value result : op->getResults())
    if (!getSharding(result))
      layouts.decide(result,
                     ShardingAttr::getReplicated(op->getContext(), cast<RankedTensorType>(result.getType()).getRank()));
}

bool Propagation::isNews(Location place, const Twine &what) {
  return reported.insert({place.getAsOpaquePointer(), what.str()}).second;
}

void Propagation::decideArgument(BlockArgument argument) {
  ShardingAttr sharding = getSharding(argument);
  layouts.decide(argument, sharding);
  StringAttr style = styleOf(argument);
  for (DimShardingAttr dim : sharding.getDims())
    for (AxisRefAttr axis : dim.getAxes())
      layouts.setCause(argument, axis, {argument.getLoc(), style});
  if (DataOp data = dataOf(argument))
    for (AxisRefAttr axis : sharding.getFlatAxes())
      layouts.setCause(argument, axis, {data.getLoc(), data.getTextAttr()});
}

StringAttr Propagation::styleOf(BlockArgument argument) {
  unsigned number = argument.getArgNumber();
  auto names = function.getArgAttrOfType<ArrayAttr>(number, "plan.names");
  if (argumentKind(argument) != "input" || !names)
    return function.getArgAttrOfType<StringAttr>(number, "plan.style");
  return StringAttr::get(function.getContext(), "input " + cast<StringAttr>(names[0]).getValue());
}

LogicalResult Propagation::visit(Operation *op) {
  if (auto constant = dyn_cast<ConstantOp>(op))
    return layouts.decide(constant, ShardingAttr::getReplicated(op->getContext(), constant.getType().getRank())),
           success();
  if (auto constrain = dyn_cast<ConstrainOp>(op))
    return visitConstrain(constrain);
  if (auto match = dyn_cast<MatchOp>(op))
    return visitMatch(match), success();
  if (auto call = dyn_cast<CallOp>(op))
    return visitCall(call);
  if (auto output = dyn_cast<func::ReturnOp>(op))
    return visitReturn(output);
  return success();
}

Value Propagation::reduce(Value value, AxisRefAttr axis, Operation *user) {
  // What is accumulated first is moved once.
  if (!isTime(axis))
    for (AxisRefAttr time : timeAxesOf(getSharding(value)))
      value = reduce(value, time, user);
  ShardingAttr sharding = getSharding(value);
  AxisList rest = without(sharding.getPartialAxes(), axis);
  ShardingAttr reduced = sharding.withPartial(sharding.getReduction(), rest);
  // Microbatches have no parts of a sum of their own: it is there when all have been run.
  bool mayScatter = sharding.getReduction() == Reduction::sum && !sharding.isFlat() && !isTime(axis);
  WantedDim wanted = mayScatter ? findWantedDim(value, axis, mesh) : WantedDim();
  if (wanted.dim >= 0)
    if (std::optional<DimShardingAttr> divided = extended(value, wanted.dim, reduced.getDims()[wanted.dim], axis))
      reduced = reduced.withDim(wanted.dim, *divided);
  Value made = layouts.obtain(value, reduced, user, causeOf(value, axis));
  if (std::optional<Cause> cause = causeOf(wanted, axis))
    layouts.setCause(made, axis, *cause);
  layouts.supersede(value, made);
  return made;
}

std::optional<Cause> Propagation::causeOf(const WantedDim &wanted, AxisRefAttr axis) {
  if (ConstrainOp statement = wanted.statement)
    return Cause{statement.getLoc(), statement.getStyleAttr()};
  return wanted.neighbour ? layouts.causeOf(wanted.neighbour, axis) : std::nullopt;
}

std::optional<DimShardingAttr> Propagation::extended(Value value, int64_t dim, DimShardingAttr now, AxisRefAttr axis) {
  int64_t extent = cast<RankedTensorType>(value.getType()).getDimSize(dim);
  AxisList axes(now.getAxes());
  axes.push_back(axis);
  bool isWhole = now.getAxes().empty();
  DimShardingAttr divided =
      isWhole ? divideDim(extent, axes, mesh, units.get(value, dim)) : divideDim(extent, axes, mesh, now);
  bool isFine = !isShared(now) && dropMinorAxes(extent, divided, 1, mesh) == now;
  isFine &= hasUnitForEach(extent, divided, mesh);
  return isFine ? std::optional(divided) : std::nullopt;
}

Cause Propagation::causeOf(Value value, AxisRefAttr axis) {
  return layouts.causeOf(value, axis).value_or(Cause{value.getLoc(), StringAttr()});
}

LogicalResult Propagation::visitConstrain(ConstrainOp constrain) {
  statements.add(constrain);
  Cause cause{constrain.getLoc(), constrain.getStyleAttr()};
  AxisList stated = toAxes(constrain.getAxes());
  Value value = layouts.current(constrain.getInput());
  for (AxisRefAttr axis : AxisList(getSharding(value).getPartialAxes()))
    if (overlapsAny(stated, axis) && !overlapsAny(constrain.getLayout().getPartialAxes(), axis))
      value = reduce(value, axis, constrain);
  auto type = cast<RankedTensorType>(value.getType());
  ShardingAttr target = without(type, stated, mesh);
  for (auto [index, dim] : llvm::enumerate(constrain.getLayout().getDims())) {
    if (dim.getAxes().empty())
      continue;
    AxisList axes(target.getDims()[index].getAxes());
    axes.append(dim.getAxes().begin(), dim.getAxes().end());
    target = target.withDim(index, divideFurther(type.getDimSize(index), axes, dim, mesh));
    if (failed(checkDivides(constrain, index, axes)))
      return failure();
  }
  reportDealtAnew(constrain, value, target);
  if (constrain.getLayout().isFlat())
    target = target.withFlat(constrain.getLayout().getFlatAxes());
  Value made = layouts.obtain(constrain.getInput(), target, constrain, cause);
  for (AxisRefAttr axis : stated)
    layouts.setCause(made, axis, cause);
  constrain.getResult().replaceAllUsesWith(made);
  return success();
}

void Propagation::reportDealtAnew(ConstrainOp constrain, Value value, ShardingAttr to) {
  if (!llvm::any_of(llvm::zip(getSharding(value).getDims(), to.getDims()),
                    [](auto dims) { return isDealtAnew(std::get<0>(dims), std::get<1>(dims)); }))
    return;
  strictFailure |= strict;
  if (isNews(constrain.getLoc(), "dealt anew"))
    reportOtherDivision(constrain, value, to, mesh, statementBehind(value, to), strict);
}

LogicalResult Propagation::checkDivides(ConstrainOp constrain, int64_t dim, ArrayRef<AxisRefAttr> axes) {
  int64_t extent = constrain.getInput().getType().getDimSize(dim), shards = shardCount(axes, mesh);
  if (extent >= shards)
    return success();
  if (isNews(constrain.getLoc(), "small dim"))
    reportSmallDim(constrain, dim, shards);
  return failure();
}

/// Where ranks have no room for the gradients of others it is reduced before it is accumulated.
static bool reducesEachMicrobatch(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  DataOp data = argument ? dataOf(argument) : DataOp();
  return data && data.getReduceEach();
}

void Propagation::visitMatch(MatchOp match) {
  Value gradient = layouts.current(match.getGradient());
  ShardingAttr from = getSharding(gradient), to = getSharding(match.getValue()).withoutPartial();
  if (std::optional<ArrayAttr> flat = match.getFlat())
    to = to.withFlat(toAxes(*flat));
  // What divides the value, or what the ranks have addends over, is behind the reshard.
  std::optional<Cause> cause =
      from.isPartial() ? layouts.causeOf(gradient, from.getPartialAxes().front()) : statementBehind(match.getValue());
  Cause known = cause.value_or(Cause{match.getLoc(), StringAttr()});
  if (reducesEachMicrobatch(match.getValue()))
    gradient = layouts.obtain(gradient, to.withPartial(from.getReduction(), timeAxesOf(from)), match, known);
  Value made = layouts.obtain(gradient, to, match, known);
  for (AxisRefAttr axis : allAxes(to))
    if (std::optional<Cause> own = layouts.causeOf(match.getValue(), axis))
      layouts.setCause(made, axis, *own);
  match.getResult().replaceAllUsesWith(made);
}

LogicalResult Propagation::visitCall(CallOp call) {
  for (OpOperand &operand : call->getOpOperands())
    operand.set(layouts.current(operand.get()));
  CallView view = CallView::of(call);
  const OpRecord *record = OpRegistry::get().lookup(view.target);
  if (hasFlatOperand(call) && !runsFlat(call))
    gatherFlat(call);
  if (!record)
    return visitUnknown(call);
  FactorRule rule = factorRuleOf(view, record);
  Linearity linearity = record->linearity ? record->linearity(view) : Linearity();
  reducePartialOperands(call, rule, linearity);
  if (runsFlat(call))
    return decideFlat(call), success();
  CallProblem problem = makeProblem(call, rule);
  CallDecision decision = decideCall(problem);
  // A reshape that would cut an axis within a head leaves the heads to nobody; attention may share a group.
  if (!decision.block && linearity.movesElements)
    decision.block = decision.cut;
  if (decision.block && refuseBlock(call, rule, *decision.block))
    return failure();
  if (splitAddend(call, *record, rule, decision) || splitSharedSums(call, *record, decision))
    return visitCall(call);
  placeReshards(call, decision);
  for (auto [result, sharding] : llvm::zip(call.getResults(), decision.results))
    layouts.decide(result, sharding);
  recordCauses(call, decision);
  return success();
}

void Propagation::gatherFlat(CallOp call) {
  for (OpOperand &operand : call->getOpOperands())
    if (ShardingAttr sharding = getSharding(operand.get()); sharding.isFlat())
      operand.set(layouts.obtain(operand.get(), sharding.withFlat({}), call,
                                 causeOf(operand.get(), sharding.getFlatAxes().front())));
}

void Propagation::decideFlat(CallOp call) {
  auto flat = llvm::find_if(call.getOperands(), [](Value operand) { return getSharding(operand).isFlat(); });
  for (auto [result, sharding] : llvm::zip(call.getResults(), flatResults(call, mesh))) {
    layouts.decide(result, sharding);
    for (AxisRefAttr axis : allAxes(sharding))
      if (std::optional<Cause> cause = layouts.causeOf(*flat, axis))
        layouts.setCause(result, axis, *cause);
  }
}

CallProblem Propagation::makeProblem(CallOp call, const FactorRule &rule) {
  CallProblem problem{rule, mesh, {}, {}};
  for (Value operand : call.getOperands()) {
    problem.order.push_back(problem.operands.size());
    problem.operands.push_back(getSharding(operand));
  }
  auto weight = [&](unsigned index) {
    Value operand = call.getOperands()[index];
    bool placed = !getSharding(operand).isReplicated() && isFromWeights(operand);
    return std::pair(placed ? 0 : 1, -cast<RankedTensorType>(operand.getType()).getNumElements());
  };
  llvm::stable_sort(problem.order, [&](unsigned left, unsigned right) { return weight(left) < weight(right); });
  return problem;
}

void Propagation::reducePartialOperands(CallOp call, const FactorRule &rule, const Linearity &linearity) {
  AxisList axes;
  for (Value operand : call.getOperands())
    for (AxisRefAttr axis : getSharding(operand).getPartialAxes())
      if (!overlapsAny(axes, axis))
        axes.push_back(axis);
  for (AxisRefAttr axis : axes) {
    CallProblem problem = makeProblem(call, rule);
    SmallVector<unsigned> rejected = findRejectedPartials(linearity, problem.operands, axis);
    if (rejected.empty() && isPartialShared(call, axis))
      for (auto [index, operand] : llvm::enumerate(call.getOperands()))
        if (overlapsAny(getSharding(operand).getPartialAxes(), axis))
          rejected.push_back(index);
    for (unsigned index : rejected)
      call->setOperand(index, reduce(call.getOperands()[index], axis, call));
  }
}

bool Propagation::isPartialShared(CallOp call, AxisRefAttr axis) {
  return llvm::any_of(call.getOperands(), [&](Value operand) {
    return overlapsAny(getSharding(operand).getPartialAxes(), axis) && !operand.hasOneUse();
  });
}

void Propagation::placeReshards(CallOp call, const CallDecision &decision) {
  for (auto [index, wanted] : llvm::enumerate(decision.operands)) {
    Value operand = call.getOperands()[index];
    ShardingAttr arriving = getSharding(operand);
    if (arriving == wanted)
      continue;
    Cause cause{call.getLoc(), StringAttr()};
    if (movesData(arriving, wanted)) {
      reportUnstated(call, index, wanted);
      cause = statementBehind(operand, wanted).value_or(cause);
    }
    Value made = layouts.obtain(operand, wanted, call, cause);
    inheritCauses(call, decision, made);
    call->setOperand(index, made);
  }
}

std::optional<Cause> Propagation::causeIn(CallOp call, Value operand, AxisRefAttr axis) {
  auto own = styles.find(call.getModule().value_or(""));
  if (own != styles.end() && isFromWeights(operand))
    for (StyleOp style : own->second)
      if (overlapsAny(toAxes(style.getAxes()), axis))
        return Cause{style.getLoc(), style.getTextAttr()};
  return layouts.causeOf(operand, axis);
}

void Propagation::inheritCauses(CallOp call, const CallDecision &decision, Value value) {
  for (auto [division, source] : llvm::zip(decision.factors, decision.source))
    if (source >= 0)
      for (AxisRefAttr axis : division.axes)
        if (std::optional<Cause> cause = causeIn(call, call.getOperands()[source], axis))
          layouts.setCause(value, axis, *cause);
}

void Propagation::reportUnstated(CallOp call, unsigned index, ShardingAttr to) {
  // Behind an error layouts are guesses, and those of gradients follow from the forward pass.
  if (hasFailed || call.getBackward())
    return;
  DividingStatement statement = toStatement(statementBehind(call.getOperands()[index], to), call);
  hasFailed = reportMissingParts(call, index, to, statement, units);
  if (hasFailed)
    return;
  strictFailure |= strict;
  if (isNews(statement.location, call.getTarget() +
                                     layoutText(cast<RankedTensorType>(call.getOperands()[index].getType())) +
                                     layoutText(withSharding(call.getOperands()[index].getType(), to))))
    reportUnstatedReshard(call, index, to, mesh, statement, statements, strict);
}

std::optional<Cause> Propagation::statementBehind(Value value) {
  for (AxisRefAttr axis : allAxes(getSharding(value)))
    if (std::optional<Cause> cause = layouts.causeOf(value, axis); cause && cause->style)
      return cause;
  return std::nullopt;
}

std::optional<Cause> Propagation::statementBehind(Value value, ShardingAttr to) {
  for (auto [before, after] : llvm::zip(getSharding(value).getDims(), to.getDims())) {
    if (after.getAxes().take_front(before.getAxes().size()) == before.getAxes() && !isDealtAnew(before, after))
      continue;
    for (AxisRefAttr axis : before.getAxes())
      if (std::optional<Cause> cause = layouts.causeOf(value, axis); cause && cause->style)
        return cause;
  }
  return statementBehind(value);
}

bool Propagation::dividesWeights(Location statement) {
  return llvm::any_of(function.getArguments(), [&](BlockArgument argument) {
    return isWeight(argument) && argument.getLoc() == statement && !getSharding(argument).isReplicated();
  });
}

DividingStatement Propagation::toStatement(const std::optional<Cause> &cause, CallOp call) {
  if (!cause)
    return {call.getLoc(), {}};
  for (const auto &entry : styles)
    for (StyleOp style : entry.second)
      if (style.getLoc() == cause->location)
        return {cause->location, style};
  return {cause->location, {}, dividesWeights(cause->location)};
}

bool Propagation::refuseBlock(CallOp call, const FactorRule &rule,
                              const std::pair<unsigned, ProjectionBlock> &blocked) {
  auto [index, block] = blocked;
  std::optional<Cause> cause = layouts.causeOf(call.getOperands()[index], block.axis);
  if (!cause || !dividesWeights(cause->location))
    return false;
  if (isNews(cause->location, call.getTarget() + " block " + Twine(index)))
    reportBlockedAxis(call, index, block, rule, mesh, toStatement(cause, call), units, statements);
  return true;
}

LogicalResult Propagation::visitUnknown(CallOp call) {
  for (auto [index, operand] : llvm::enumerate(call.getOperands())) {
    if (getSharding(operand).isReplicated())
      continue;
    std::optional<Cause> cause = statementBehind(operand);
    Location place = cause ? cause->location : call.getLoc();
    if (isNews(place, call.getTarget()))
      reportUnknownOperator(call, index, layouts, place, statements);
    return failure();
  }
  for (Value result : call.getResults())
    layouts.decide(result,
                   ShardingAttr::getReplicated(call.getContext(), cast<RankedTensorType>(result.getType()).getRank()));
  return success();
}

void Propagation::recordCauses(CallOp call, const CallDecision &decision) {
  for (Value result : call.getResults()) {
    inheritCauses(call, decision, result);
    for (Value operand : call.getOperands())
      for (AxisRefAttr axis : getSharding(operand).getPartialAxes())
        if (std::optional<Cause> cause = layouts.causeOf(operand, axis))
          layouts.setCause(result, axis, *cause);
  }
}

LogicalResult Propagation::visitReturn(func::ReturnOp output) {
  for (OpOperand &operand : output->getOpOperands()) {
    operand.set(layouts.current(operand.get()));
    for (AxisRefAttr axis : AxisList(getSharding(operand.get()).getPartialAxes()))
      operand.set(reduce(operand.get(), axis, output));
  }
  function.setType(
      FunctionType::get(function.getContext(), function.getBody().getArgumentTypes(), output.getOperandTypes()));
  return failure(strictFailure);
}

namespace {

struct PropagateShardingsPass : meshplan::impl::PropagateShardingsBase<PropagateShardingsPass> {
  using PropagateShardingsBase::PropagateShardingsBase;

  void runOnOperation() final {
    ModuleOp module = getOperation();
    MeshOp mesh = getMesh(module);
    ModuleStyles styles;
    for (auto style : module.getOps<StyleOp>())
      styles[style.getModule()].push_back(style);
    for (auto function : module.getOps<func::FuncOp>())
      if (!function->hasAttr("plan.single_rank") && failed(Propagation(function, mesh, styles, strict).run()))
        return signalPassFailure();
    for (auto style : llvm::make_early_inc_range(module.getOps<StyleOp>()))
      style.erase();
  }
};

} // namespace
