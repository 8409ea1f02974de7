//===- step_parts.cpp - what the operations of a step are for -------------===//
//
// Only calls of the backward pass are marked, so the rest follows from dataflow:
// what reads a gradient, directly or not, and is not marked is the update,
// except collectives and conversions on the way to a whole gradient. What feeds
// only the update, such as a learning rate, is of the update, too.
//
//===----------------------------------------------------------------------===//

#include "compiler/sharding/dataflow/step_parts.h"
#include "compiler/sharding/dataflow/carriers.h"
#include "compiler/sharding/op_record.h"
#include "dialect/plan/argument_table.h"
#include "dialect/plan/attributes.h"

using namespace mlir;
using namespace meshplan;
using namespace meshplan::plan;
using base::Direction;
using base::Purpose;

StepParts::StepParts(func::FuncOp function) : function(function), arguments(function) {
  findPurposes();
  findDirections();
}

void StepParts::addSources(Value value, BlockArgument parameter, Purpose purpose) {
  for (Operation *op = value.getDefiningOp(); isCarrier(op); op = op->getOperand(0).getDefiningOp())
    if (collectiveKindOf(op))
      moved.try_emplace(op, Moved{purpose, parameter});
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

void StepParts::findDirections() {
  Block &body = function.getBody().front();
  for (Operation &op : body) {
    Direction direction = Direction::forward;
    for (Value operand : op.getOperands())
      if (Operation *producer = operand.getDefiningOp())
        direction = std::max(direction, directions.lookup(producer));
    auto found = moved.find(&op);
    bool isGradient = found != moved.end() && found->second.purpose == Purpose::gradients;
    auto call = dyn_cast<CallOp>(op);
    bool accumulates = call && call.getTarget() == "meshplan.accumulate";
    if (meshplan::isBackward(&op) || isGradient || accumulates)
      direction = Direction::backward;
    else if (direction == Direction::backward)
      direction = Direction::update;
    directions[&op] = direction;
  }
  auto isOfUpdate = [&](Operation *op) { return directions.lookup(op) == Direction::update; };
  for (Operation &op : llvm::reverse(body))
    if (directions[&op] == Direction::forward && !op.use_empty() && llvm::all_of(op.getUsers(), isOfUpdate))
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
  while (isCarrier(op) && !op->hasAttr("module"))
    op = op->getOperand(0).getDefiningOp();
  auto module = op ? op->getAttrOfType<StringAttr>("module") : StringAttr();
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
