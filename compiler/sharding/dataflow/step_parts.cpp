//===- step_parts.cpp - what the operations of a step are for -------------===//
//
// Calls of the backward pass and those of the update carry one mark. The update begins where whole gradients are read:
// by the optimizer, and by the sums over all gradients that it needs. What follows from these is of the update, and so
// is what feeds only the update, such as a learning rate or the shard of a parameter.
//
//===----------------------------------------------------------------------===//

#include "compiler/sharding/dataflow/step_parts.h"
#include "compiler/sharding/axes.h"
#include "compiler/sharding/dataflow/carriers.h"
#include "compiler/sharding/families/row_sums.h"
#include "compiler/sharding/op_record.h"
#include "dialect/plan/argument_table.h"
#include "dialect/plan/attributes.h"
#include "dialect/plan/step_name.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;
using namespace meshplan;
using namespace meshplan::plan;
using base::Direction;
using base::Purpose;

StepParts::StepParts(func::FuncOp function) : function(function), arguments(function) {
  findPurposes();
  findDirections();
}

/// True if ranks gather rows over this axis instead of reducing the sum of all rows: else the sum would have addends,
/// or be divided.
static bool replacesReduction(AxisRefAttr axis, Value sum) {
  ShardingAttr sharding = getSharding(sum);
  return !overlapsAny(sharding.getPartialAxes(), axis) &&
         llvm::none_of(sharding.getDims(), [&](DimShardingAttr dim) { return overlapsAny(dim.getAxes(), axis); });
}

void StepParts::addSources(Value value, BlockArgument parameter, Purpose purpose) {
  Operation *op = value.getDefiningOp();
  for (; isCarrier(op); op = op->getOperand(0).getDefiningOp())
    if (collectiveKindOf(op))
      moved.try_emplace(op, Moved{purpose, parameter});
  auto call = dyn_cast_or_null<CallOp>(op);
  if (!call || !addsRows(call.getTarget()))
    return;
  for (Value operand : call.getOperands())
    if (auto gather = operand.getDefiningOp<AllGatherOp>();
        gather && llvm::all_of(toAxes(gather.getAxes()),
                               [&](AxisRefAttr axis) { return replacesReduction(axis, call.getResult(0)); }))
      moved.try_emplace(gather, Moved{purpose, parameter});
}

/// A master, a state or a slice of a parameter may be what is changed; the parameter is the same.
BlockArgument StepParts::changedBy(CallOp call, StringRef operand) const {
  std::optional<unsigned> index = CallView::of(call).getOperand(operand);
  BlockArgument changed = index ? sourceArgument(call.getOperand(*index)) : BlockArgument();
  return changed ? arguments.parameterOf(changed) : BlockArgument();
}

void StepParts::addReaders(CallOp call) {
  CallView view = CallView::of(call);
  std::optional<unsigned> gradient = view.getOperand("gradient");
  if (gradient && view.getOperand("parameter"))
    addSources(call.getOperand(*gradient), changedBy(call, "parameter"), Purpose::gradients);
  if (call.getTarget() == "meshplan.accumulate")
    addSources(call.getOperand(*view.getOperand("addend")), changedBy(call, "self"), Purpose::gradients);
  if (call.getTarget() == "meshplan.assign") {
    BlockArgument target = changedBy(call, "self");
    bool isParameter = target && argumentKind(target) == ArgumentKind::parameter;
    addSources(call.getOperand(*view.getOperand("source")), target,
               isParameter ? Purpose::parameters : Purpose::gradients);
  }
}

void StepParts::findPurposes() {
  for (Operation &op : function.getBody().front()) {
    if (auto call = dyn_cast<CallOp>(op))
      addReaders(call);
    if (!collectiveKindOf(&op))
      continue;
    BlockArgument source = sourceArgument(op.getOperand(0));
    std::optional<ArgumentKind> kind = source ? argumentKind(source) : std::nullopt;
    if (kind == ArgumentKind::parameter || kind == ArgumentKind::buffer)
      moved.try_emplace(&op, Moved{Purpose::parameters, source});
  }
  Operation *end = function.getBody().front().getTerminator();
  for (unsigned index = 0; index < function.getNumResults(); ++index) {
    if (BlockArgument parameter = arguments[resultAttr<attr::GradientOf>(function, index)])
      addSources(end->getOperand(index), parameter, Purpose::gradients);
    auto updated = resultAttr<attr::Updates>(function, index);
    if (updated && updated.getKind() == ArgumentKind::parameter)
      addSources(end->getOperand(index), arguments[updated], Purpose::parameters);
    if (updated && updated.getKind() == ArgumentKind::accumulator)
      addSources(end->getOperand(index), arguments[updated], Purpose::gradients);
  }
  // Sums over microbatches are reduced in the last one. Only now, because the readers above know the parameter.
  for (Operation &op : function.getBody().front())
    if (BlockArgument source = collectiveKindOf(&op) ? sourceArgument(op.getOperand(0)) : BlockArgument())
      if (argumentKind(source) == ArgumentKind::accumulator)
        moved.try_emplace(&op, Moved{Purpose::gradients, source});
}

/// Reads whole gradients: the optimizer, and what it computes from all of them.
static bool beginsUpdate(CallOp call) {
  if (call.getTarget() == "meshplan.square_sum" || call.getTarget() == "meshplan.nonfinite_count")
    return true;
  CallView view = CallView::of(call);
  return view.getOperand("parameter") && view.getOperand("gradient");
}

void StepParts::findDirections() {
  Block &body = function.getBody().front();
  // Marked, and neither a gradient nor computed from what the forward pass computes: the shard of a parameter, say.
  llvm::DenseSet<Operation *> independent;
  auto isIndependent = [&](Value value) {
    return !value.getDefiningOp() || independent.contains(value.getDefiningOp());
  };
  for (Operation &op : body.without_terminator()) {
    Direction direction = Direction::forward;
    for (Value operand : op.getOperands())
      if (Operation *producer = operand.getDefiningOp())
        direction = std::max(direction, directions.lookup(producer));
    auto found = moved.find(&op);
    auto call = dyn_cast<CallOp>(op);
    bool isGradient = (found != moved.end() && found->second.purpose == Purpose::gradients) ||
                      (call && call.getTarget() == "meshplan.accumulate");
    if (call && beginsUpdate(call))
      direction = Direction::update;
    else if (direction != Direction::update && (isGradient || meshplan::isBackward(&op)))
      direction = Direction::backward;
    directions[&op] = direction;
    if (direction == Direction::backward && !isGradient && llvm::all_of(op.getOperands(), isIndependent))
      independent.insert(&op);
  }
  auto isOfUpdate = [&](Operation *op) { return directions.lookup(op) == Direction::update; };
  for (Operation &op : llvm::reverse(body.without_terminator()))
    if ((directions[&op] == Direction::forward || independent.contains(&op)) && !op.use_empty() &&
        llvm::all_of(op.getUsers(), isOfUpdate))
      directions[&op] = Direction::update;
}

Purpose StepParts::purposeOf(Operation *op) const {
  if (auto found = moved.find(op); found != moved.end())
    return found->second.purpose;
  return directionOf(op) == Direction::update ? Purpose::optimizer : Purpose::activations;
}

/// The module of the op that computes a value.
static StringRef moduleOf(Value value) {
  Operation *op = value.getDefiningOp();
  while (isCarrier(op) && !stepModule(op))
    op = op->getOperand(0).getDefiningOp();
  StringAttr module = stepModule(op);
  return module ? module.getValue() : "";
}

/// The module of a parameter, by its name; empty for the root module.
static StringRef parentOf(StringRef name) { return name.contains('.') ? name.rsplit('.').first : ""; }

/// The components that both paths begin with.
static StringRef commonPath(StringRef left, StringRef right) {
  size_t end = 0;
  for (size_t at = 0; at <= left.size() && at <= right.size(); ++at) {
    bool endsLeft = at == left.size() || left[at] == '.', endsRight = at == right.size() || right[at] == '.';
    if (endsLeft && endsRight)
      end = at;
    if (at == left.size() || at == right.size() || left[at] != right[at])
      break;
  }
  return left.take_front(end);
}

std::string StepParts::subjectOf(ArrayRef<Operation *> ops) const {
  std::optional<StringRef> common;
  for (Operation *op : ops) {
    StringRef module = moduleOf(op->getOperand(0));
    auto found = moved.find(op);
    BlockArgument parameter = found == moved.end() ? BlockArgument() : found->second.parameter;
    // An accumulator has no module in its name.
    bool isNamed = parameter && argumentKind(parameter) != ArgumentKind::accumulator;
    if (auto names = isNamed ? argAttr<attr::Names>(parameter) : ArrayAttr(); names && !names.empty())
      module = parentOf(cast<StringAttr>(names[0]).getValue());
    common = common ? commonPath(*common, module) : module;
  }
  return common.value_or("").str();
}
