//===- explain.cpp - why a tensor has its layout --------------------------===//
//
// A target is a parameter, an input, an output, or a border of a module: `lm_head.weight`, `model.layers.0:input[0]`.
// Its layout is explained by what the partitioned program keeps of its history: the statements that caused its axes
// (plan.getCauses) and the reshards before and after it, with their bytes.
//
//===----------------------------------------------------------------------===//

#include "compiler/report/explain/explain.h"
#include "compiler/report/explain/describe.h"
#include "compiler/report/explain/training.h"
#include "compiler/support/layer_names.h"
#include "compiler/support/nearest.h"
#include "dialect/plan/attributes.h"
#include "dialect/plan/programs.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace meshplan;
using namespace meshplan::plan;

namespace {

class Explainer {
public:
  Explainer(func::FuncOp function, const ExplainTarget &target, const std::vector<std::string> &modulePaths,
            Diagnostics &diagnostics)
      : function(function), target(target), modulePaths(modulePaths), diagnostics(diagnostics), moves(function),
        describer(getMesh(function), diagnostics.sources()) {}

  std::optional<Explanation> run();

private:
  ArrayAttr namesOf(unsigned argument) { return argAttr<attr::Names>(function, argument); }
  std::optional<BlockArgument> findArgument(StringRef name);
  std::optional<BlockArgument> findStacked();
  std::optional<OpOperand *> findOutput();
  void reportUnknown();

  void explainArgument(BlockArgument argument);
  void explainOutput(OpOperand &operand);
  void explainModule();
  std::optional<Explanation> explainBorder();
  void explainModuleInput(const BorderValue &input);
  void explainModuleOutput(const BorderValue &output);
  void addParameter(BlockArgument argument);
  Statement statementOf(BlockArgument argument);
  void addReshards(const MoveSet &set);

  func::FuncOp function;
  const ExplainTarget &target;
  const std::vector<std::string> &modulePaths;
  Diagnostics &diagnostics;
  MoveTable moves;
  Describer describer;
  Explanation result;
};

} // namespace

//===----------------------------------------------------------------------===//
// The target
//===----------------------------------------------------------------------===//

std::optional<ExplainTarget> meshplan::parseTarget(StringRef text) {
  auto [path, border] = text.split(':');
  ExplainTarget target{path == "\"\"" ? "" : path.str()};
  if (path.size() == text.size())
    return target;
  if (border.consume_front("input["))
    target.border = ExplainTarget::Border::input;
  else if (border.consume_front("output["))
    target.border = ExplainTarget::Border::output;
  else
    return std::nullopt;
  bool isRight = border.consume_back("]") && !border.getAsInteger(10, target.index) && target.index >= 0;
  return isRight ? std::optional(target) : std::nullopt;
}

std::optional<BlockArgument> Explainer::findArgument(StringRef path) {
  for (BlockArgument argument : function.getArguments())
    if (ArrayAttr names = namesOf(argument.getArgNumber()))
      for (auto name : names.getAsRange<StringAttr>())
        if (name.getValue() == path)
          return argument;
  return std::nullopt;
}

/// The parameter `experts.w` of all members of a list, of which the target is that of one, `experts.2.w`.
std::optional<BlockArgument> Explainer::findStacked() {
  SmallVector<StringRef> parts;
  StringRef(target.path).split(parts, '.');
  for (size_t position = 1; position + 1 < parts.size(); ++position) {
    int64_t number = 0;
    if (parts[position].getAsInteger(10, number))
      continue;
    SmallVector<StringRef> others(parts);
    others.erase(others.begin() + position);
    std::optional<BlockArgument> stacked = findArgument(llvm::join(others, "."));
    auto type = stacked ? dyn_cast<RankedTensorType>(stacked->getType()) : RankedTensorType();
    if (type && isWeight(*stacked) && type.getRank() > 0 && number >= 0 && number < type.getDimSize(0))
      return stacked;
  }
  return std::nullopt;
}

std::optional<OpOperand *> Explainer::findOutput() {
  for (OpOperand &operand : function.getBody().front().getTerminator()->getOpOperands()) {
    auto name = resultAttr<attr::Name>(function, operand.getOperandNumber());
    if (name && name.getValue() == target.path)
      return &operand;
  }
  return std::nullopt;
}

void Explainer::reportUnknown() {
  std::vector<std::string> candidates = modulePaths;
  for (BlockArgument argument : function.getArguments())
    if (ArrayAttr names = namesOf(argument.getArgNumber()))
      for (auto name : names.getAsRange<StringAttr>())
        candidates.push_back(name.str());
  for (unsigned index = 0; index < function.getNumResults(); ++index)
    if (auto name = resultAttr<attr::Name>(function, index))
      candidates.push_back(name.str());
  diagnostics.error({}, "the model has no module, parameter, input or output '" + target.path + "'")
      .help(suggest(target.path, candidates, "there are"));
}

std::optional<Explanation> Explainer::run() {
  result.path = target.path;
  bool isModule = llvm::is_contained(modulePaths, target.path);
  if (target.border != ExplainTarget::Border::none) {
    if (isModule)
      return explainBorder();
    diagnostics.error({}, "the model has no module '" + target.path + "'")
        .help(suggest(target.path, modulePaths, "modules"));
    return std::nullopt;
  }
  if (std::optional<BlockArgument> argument = findArgument(target.path)) {
    explainArgument(*argument);
  } else if (isModule) {
    explainModule();
  } else if (std::optional<OpOperand *> output = findOutput()) {
    explainOutput(**output);
  } else if (std::optional<BlockArgument> stacked = findStacked()) {
    result.path = parameterName(*stacked).str();
    explainArgument(*stacked);
  } else {
    return reportUnknown(), std::nullopt;
  }
  return std::move(result);
}

//===----------------------------------------------------------------------===//
// Parameters, inputs and outputs of the model
//===----------------------------------------------------------------------===//

Statement Explainer::statementOf(BlockArgument argument) {
  return describer.statement(argument.getLoc(), argAttr<attr::Style>(function, argument.getArgNumber()));
}

void Explainer::explainArgument(BlockArgument argument) {
  std::optional<ArgumentKind> kind = argumentKind(argument);
  result.kind = stringifyArgumentKind(kind.value_or(ArgumentKind::input)).str();
  for (auto name : namesOf(argument.getArgNumber()).getAsRange<StringAttr>())
    result.names.push_back(name.str());
  result.tensor = describer.tensor(argument);
  result.statement = statementOf(argument);
  MoveSet caused;
  moves.addCausedBy(argument, caused);
  addReshards(caused);
}

void Explainer::explainOutput(OpOperand &operand) {
  result.kind = "output";
  result.tensor = describer.tensor(operand.get());
  result.ends = {describer.producer(originOf(operand.get()), originOf(operand.get()))};
  MoveSet way;
  moves.addWayTo(operand.get(), way);
  addReshards(way);
}

//===----------------------------------------------------------------------===//
// Modules
//===----------------------------------------------------------------------===//

void Explainer::addParameter(BlockArgument argument) {
  auto name = cast<StringAttr>(namesOf(argument.getArgNumber())[0]);
  MemberExplanation member{name.str(), describer.tensor(argument), statementOf(argument)};
  auto isEqualLayer = [&](const MemberExplanation &other) {
    return withoutIndices(other.name) == withoutIndices(member.name) && other.tensor.dtype == member.tensor.dtype &&
           other.tensor.layout == member.tensor.layout && other.statement.range == member.statement.range;
  };
  auto known = llvm::find_if(result.parameters, isEqualLayer);
  if (known == result.parameters.end()) {
    result.parameters.push_back(std::move(member));
    return;
  }
  known->name = withoutIndices(known->name);
  ++known->count;
}

void Explainer::explainModule() {
  result.kind = "module";
  ModuleBorder border = findBorder(function, target.path);
  MoveSet set;
  llvm::SetVector<Value> parameters;
  for (CallOp call : border.calls)
    for (Value operand : call.getOperands())
      if (Value origin = originOf(operand); isWeight(origin))
        parameters.insert(origin);
  // Other modules may read what this one holds.
  for (BlockArgument argument : function.getArguments())
    if (ArrayAttr names = namesOf(argument.getArgNumber()); names && isWeight(argument))
      for (auto name : names.getAsRange<StringAttr>())
        if (!target.path.empty() && name.getValue().rsplit('.').first == target.path)
          parameters.insert(argument);
  for (Value value : parameters) {
    addParameter(cast<BlockArgument>(value));
    moves.addCausedBy(cast<BlockArgument>(value), set);
  }
  for (const BorderValue &input : border.inputs)
    result.inputs.push_back(
        {"", describer.tensor(input.uses.front()->get()), {}, 1, {describer.producer(input.value, input.value)}});
  for (const BorderValue &output : border.outputs)
    result.outputs.push_back({"", describer.tensor(output.value), {}, 1, describer.consumers(output.uses)});
  moves.addMovesOf(target.path, set);
  addReshards(set);
}

std::optional<Explanation> Explainer::explainBorder() {
  ModuleBorder border = findBorder(function, target.path);
  bool isInput = target.border == ExplainTarget::Border::input;
  const auto &values = isInput ? border.inputs : border.outputs;
  if (target.index >= static_cast<int64_t>(values.size())) {
    std::string count = values.empty() ? "no " : std::to_string(values.size()) + " ";
    diagnostics
        .error({}, moduleText(target.path) + " has " + count + (isInput ? "input" : "output") +
                       (values.size() == 1 ? "" : "s"))
        .help("'meshplan explain PLAN " + (target.path.empty() ? "\"\"" : target.path) + "' lists them");
    return std::nullopt;
  }
  if (isInput)
    explainModuleInput(values[target.index]);
  else
    explainModuleOutput(values[target.index]);
  result.path += (isInput ? ":input[" : ":output[") + std::to_string(target.index) + "]";
  return std::move(result);
}

void Explainer::explainModuleInput(const BorderValue &input) {
  result.kind = "module input";
  Value taken = input.uses.front()->get();
  result.tensor = describer.tensor(taken);
  if (taken.getType() != input.value.getType())
    result.arrives = describer.tensor(input.value);
  result.ends = {describer.producer(input.value, input.value)};
  MoveSet ways;
  for (OpOperand *use : input.uses)
    moves.addWayTo(use->get(), ways);
  addReshards(ways);
}

void Explainer::explainModuleOutput(const BorderValue &output) {
  result.kind = "module output";
  result.tensor = describer.tensor(output.value);
  result.ends = describer.consumers(output.uses);
  MoveSet ways;
  for (OpOperand *use : output.uses)
    moves.addWayTo(use->get(), ways);
  addReshards(ways);
}

//===----------------------------------------------------------------------===//

void Explainer::addReshards(const MoveSet &set) { result.reshards = describer.reshards(moves, set); }

std::optional<Explanation> meshplan::explain(ModuleOp module, const ExplainTarget &target,
                                             const std::vector<std::string> &modulePaths, Diagnostics &diagnostics) {
  for (auto function : module.getOps<func::FuncOp>()) {
    std::optional<Explanation> explanation = Explainer(function, target, modulePaths, diagnostics).run();
    if (func::FuncOp step = programOf(module, base::ProgramRole::step); step && explanation)
      explainTraining(step, *explanation, diagnostics.sources());
    return explanation;
  }
  diagnostics.error({}, "the program has no function to explain");
  return std::nullopt;
}
