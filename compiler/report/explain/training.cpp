//===- training.cpp - explanations of a training step ---------------------===//
//
// The step is followed backwards from what the optimizer reads of a parameter: its gradient, over the reductions that
// made it whole, to the addend that a rank computes; then its states.
//
//===----------------------------------------------------------------------===//

#include "compiler/report/explain/training.h"
#include "compiler/report/explain/describe.h"
#include "compiler/sharding/dataflow/carriers.h"
#include "compiler/sharding/op_record.h"
#include "dialect/plan/argument_table.h"
#include "dialect/plan/attributes.h"

using namespace mlir;
using namespace meshplan;
using namespace meshplan::plan;

namespace {

class TrainingExplainer {
public:
  TrainingExplainer(func::FuncOp step, const Sources &sources)
      : step(step), arguments(step), moves(step), describer(getMesh(step), sources) {}

  std::optional<TrainingExplanation> ofParameter(StringRef name);
  std::optional<TrainingExplanation> ofModule(StringRef path);

private:
  ArrayRef<Attribute> namesOf(BlockArgument argument);
  BlockArgument findParameter(StringRef name);
  /// The argument that a call of the optimizer updates, directly or through a copy or a slice; null for other calls.
  BlockArgument changedBy(CallOp call);
  Value gradientReadBy(CallOp update);
  /// The gradient before it is reduced over ranks. Adds the moves on the way to `set`.
  Value follow(Value gradient, MoveSet &set);
  std::vector<MemberExplanation> statesOf(BlockArgument parameter);
  TrainingExplanation explain(const MoveSet &set);

  func::FuncOp step;
  ArgumentTable arguments;
  MoveTable moves;
  Describer describer;
};

} // namespace

ArrayRef<Attribute> TrainingExplainer::namesOf(BlockArgument argument) {
  auto names = argAttr<attr::Names>(step, argument.getArgNumber());
  return names ? names.getValue() : ArrayRef<Attribute>();
}

BlockArgument TrainingExplainer::findParameter(StringRef name) {
  for (BlockArgument argument : step.getArguments())
    for (Attribute each : namesOf(argument))
      if (isWeight(argument) && cast<StringAttr>(each).getValue() == name)
        return argument;
  return {};
}

BlockArgument TrainingExplainer::changedBy(CallOp call) {
  CallView view = CallView::of(call);
  std::optional<unsigned> parameter = view.getOperand("parameter");
  if (!parameter || !view.getOperand("gradient"))
    return {};
  return arguments.parameterOf(sourceArgument(call.getOperand(*parameter)));
}

Value TrainingExplainer::gradientReadBy(CallOp update) {
  return update.getOperand(*CallView::of(update).getOperand("gradient"));
}

Value TrainingExplainer::follow(Value gradient, MoveSet &set) {
  // The optimizer reads a gradient that was accumulated, converted, reduced and perhaps sharded. Explained is what the
  // backward pass produced, with its partial axes, which are the reason for all the rest.
  while (Operation *op = gradient.getDefiningOp()) {
    moves.addWayTo(gradient, set);
    auto call = dyn_cast<CallOp>(op);
    if (call && call.getTarget() == "meshplan.accumulate")
      gradient = call.getOperand(*CallView::of(call).getOperand("addend"));
    else if (isCarrier(op))
      gradient = op->getOperand(0);
    else
      break;
  }
  return gradient;
}

std::vector<MemberExplanation> TrainingExplainer::statesOf(BlockArgument parameter) {
  std::vector<MemberExplanation> states;
  for (BlockArgument argument : step.getArguments()) {
    if (argumentKind(argument) != ArgumentKind::state || arguments.parameterOf(argument) != parameter)
      continue;
    StringRef name = cast<StringAttr>(namesOf(argument).front()).getValue();
    name.consume_front((cast<StringAttr>(namesOf(parameter).front()).getValue() + ".").str());
    states.push_back({name.str(), describer.tensor(argument)});
  }
  return states;
}

/// True for moves of the backward pass; those of the forward pass have been explained.
static bool isAfterForward(const Move &move) {
  Operation *producer = originOf(move.input()).getDefiningOp();
  return (producer && isBackward(producer)) || isBackward(move.steps.front());
}

TrainingExplanation TrainingExplainer::explain(const MoveSet &set) {
  MoveSet ofBackward;
  for (unsigned index : set)
    if (isAfterForward(moves[index]))
      ofBackward.insert(index);
  TrainingExplanation training;
  training.reshards = describer.reshards(moves, ofBackward);
  return training;
}

std::optional<TrainingExplanation> TrainingExplainer::ofParameter(StringRef name) {
  BlockArgument parameter = findParameter(name);
  if (!parameter)
    return std::nullopt;
  MoveSet set;
  moves.addCausedBy(parameter, set);
  Value gradient;
  for (auto call : step.getOps<CallOp>())
    if (changedBy(call) == parameter) {
      gradient = follow(gradientReadBy(call), set);
      for (Value result : call.getResults())
        moves.addMovesFrom(result, set);
    }
  if (!gradient)
    return std::nullopt;
  TrainingExplanation training = explain(set);
  training.gradient = describer.tensor(gradient);
  training.states = statesOf(parameter);
  return training;
}

std::optional<TrainingExplanation> TrainingExplainer::ofModule(StringRef path) {
  MoveSet set;
  moves.addMovesOf(path, set);
  // Between the call that computes a gradient and the collective there may be conversions, which belong to no module.
  for (auto call : step.getOps<CallOp>())
    if (MoveSet way; changedBy(call)) {
      Operation *producer = follow(gradientReadBy(call), way).getDefiningOp();
      if (producer && isInModule(producer, path))
        set.insert(way.begin(), way.end());
    }
  return explain(set);
}

void meshplan::explainTraining(func::FuncOp step, Explanation &explanation, const Sources &sources) {
  TrainingExplainer explainer(step, sources);
  if (explanation.kind == "parameter")
    explanation.training = explainer.ofParameter(explanation.path);
  else if (explanation.kind == "module")
    explanation.training = explainer.ofModule(explanation.path);
}
