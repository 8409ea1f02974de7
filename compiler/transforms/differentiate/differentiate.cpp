//===- differentiate.cpp - the training step of a program -----------------===//
//
// See Differentiate in passes.td.
//
//===----------------------------------------------------------------------===//

#include "compiler/transforms/differentiate/gradients.h"
#include "compiler/transforms/differentiate/messages.h"
#include "compiler/transforms/differentiate/passes.h"
#include "compiler/transforms/differentiate/unreached.h"
#include "dialect/plan/argument_table.h"
#include "dialect/plan/attributes.h"
#include "dialect/plan/programs.h"
#include "dialect/plan/step_call.h"
#include "dialect/plan/updates.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace meshplan {
#define GEN_PASS_DEF_DIFFERENTIATE
#include "compiler/transforms/differentiate/passes.h.inc"
} // namespace meshplan

using namespace mlir;
using namespace meshplan;
using namespace meshplan::plan;

namespace {

/// Turns a copy of a forward program into the training step.
class StepMaker {
public:
  StepMaker(func::FuncOp step, LossOp statement) : step(step), statement(statement) {}

  LogicalResult run();
  /// Names of trained parameters that the loss does not depend on.
  std::vector<std::string> unreached();

private:
  SmallVector<BlockArgument> trainedArguments();
  StringRef nameOf(BlockArgument argument);
  LogicalResult checkReached(const Gradients &gradients, ArrayRef<BlockArgument> trained);
  SmallVector<BlockArgument> reached(ArrayRef<BlockArgument> arguments, bool byZeros);
  void addZeros(Gradients &gradients, ArrayRef<BlockArgument> trained);
  LogicalResult checkUnused();
  void returnGradients(const Gradients &gradients, ArrayRef<BlockArgument> trained);
  /// Assigns a value to the buffer whose new content it is, in the layout of the buffer.
  Value stored(Value value, BlockArgument buffer);

  func::FuncOp step;
  LossOp statement;
};

} // namespace

LogicalResult StepMaker::run() {
  Operation *output = step.getBody().front().getTerminator();
  int64_t number = statement.getOutput();
  Value loss = output->getOperand(number);
  auto type = cast<RankedTensorType>(loss.getType());
  StringRef name = resultAttr<attr::Name>(step, number).getValue();
  if (type.getNumElements() != 1 || !isa<FloatType>(type.getElementType()))
    return reportOtherLoss(statement, name, type);
  // Constraints of the plan on the loss compute nothing.
  Value made = loss;
  while (auto constrain = made.getDefiningOp<ConstrainOp>())
    made = constrain.getInput();
  if (isa<BlockArgument>(made))
    return reportReturnedLoss(statement, name);
  SmallVector<BlockArgument> trained = trainedArguments();
  // Before the backward pass, so that this error is reported even if an operator has no derivative.
  if (failed(checkUnused()))
    return failure();
  Gradients gradients(step, loss, trained);
  if (failed(gradients.run()))
    return failure();
  // Before checkReached: a parameter whose gradient is zero everywhere is reached, one on which the loss does not
  // depend is an error.
  addZeros(gradients, trained);
  if (failed(checkReached(gradients, trained)))
    return failure();
  returnGradients(gradients, trained);
  // Outputs that the step does not return need not be computed.
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(step.getBody().front())))
    if (isOpTriviallyDead(&op))
      op.erase();
  return success();
}

SmallVector<BlockArgument> StepMaker::trainedArguments() {
  SmallVector<BlockArgument> trained;
  for (BlockArgument argument : step.getArguments())
    if (auto isTrained = argAttr<attr::Trainable>(step, argument.getArgNumber());
        isTrained && isTrained.getValue() &&
        isa<FloatType>(cast<RankedTensorType>(argument.getType()).getElementType()))
      trained.push_back(argument);
  return trained;
}

std::vector<std::string> StepMaker::unreached() {
  SmallVector<BlockArgument> trained = trainedArguments(), found = reached(trained, /*byZeros=*/true);
  std::vector<std::string> names;
  for (BlockArgument argument : trained)
    if (!llvm::is_contained(found, argument))
      names.push_back(nameOf(argument).str());
  return names;
}

std::vector<std::string> meshplan::unreachedParameters(ModuleOp program) {
  SmallVector<LossOp> statements(program.getOps<LossOp>());
  auto forward = programOf(program, base::ProgramRole::forward);
  if (statements.empty() || !forward)
    return {};
  return StepMaker(forward, statements.front()).unreached();
}

StringRef StepMaker::nameOf(BlockArgument argument) {
  return cast<StringAttr>(argAttr<attr::Names>(step, argument.getArgNumber())[0]).getValue();
}

LogicalResult StepMaker::checkReached(const Gradients &gradients, ArrayRef<BlockArgument> trained) {
  SmallVector<StringRef> missing;
  size_t reached = 0;
  for (BlockArgument argument : trained)
    if (gradients.of(argument))
      ++reached;
    else
      missing.push_back(nameOf(argument));
  if (reached != 0 && missing.empty())
    return success();
  return reportUnreached(statement, missing, /*isAll=*/reached == 0);
}

/// The arguments of the step on which the loss depends; with `byZeros` also through functions that are constant almost
/// everywhere. The gradients are computed in a temporary copy, and operators without a derivative are ignored.
SmallVector<BlockArgument> StepMaker::reached(ArrayRef<BlockArgument> arguments, bool byZeros) {
  func::FuncOp copy = step.clone();
  step->getBlock()->getOperations().insertAfter(step->getIterator(), copy);
  auto inCopy = [&](BlockArgument argument) { return copy.getArgument(argument.getArgNumber()); };
  Gradients gradients(copy, copy.getBody().front().getTerminator()->getOperand(statement.getOutput()),
                      llvm::map_to_vector(arguments, inCopy));
  if (byZeros)
    gradients.keepZeros();
  {
    // Operators without a derivative are reported when the real gradients are made. Here they only end a path.
    ScopedDiagnosticHandler silent(step.getContext(), [](Diagnostic &) {});
    (void)gradients.run(/*continues=*/true);
  }
  auto found = llvm::filter_to_vector(arguments, [&](BlockArgument each) { return bool(gradients.of(inCopy(each))); });
  // The answers are arguments of the step, so nothing refers to the copy any longer.
  copy.erase();
  return found;
}

/// A parameter whose gradient is zero everywhere gets a gradient of zeros, because PyTorch's optimizers still change
/// it, by weight decay and by its moments.
void StepMaker::addZeros(Gradients &gradients, ArrayRef<BlockArgument> trained) {
  auto missing = llvm::filter_to_vector(trained, [&](BlockArgument each) { return !gradients.of(each); });
  if (!missing.empty())
    for (BlockArgument argument : reached(missing, /*byZeros=*/true))
      gradients.giveZeros(argument);
}

/// Checks that the loss does not depend on parameters that the plan declares unused: they would not be trained.
LogicalResult StepMaker::checkUnused() {
  auto pathOf = [&](BlockArgument argument) { return argAttr<attr::Unused>(step, argument.getArgNumber()); };
  SmallVector<BlockArgument> unused = llvm::filter_to_vector(step.getArguments(), pathOf);
  if (unused.empty())
    return success();
  llvm::MapVector<Location, SmallVector<StringRef>> names; // by the path that names them
  for (BlockArgument argument : reached(unused, /*byZeros=*/false))
    names[Location(pathOf(argument))].push_back(nameOf(argument));
  for (auto &[location, reachedNames] : names)
    reportReached(location, reachedNames);
  return success(names.empty());
}

Value StepMaker::stored(Value value, BlockArgument buffer) {
  OpBuilder builder(step.getBody().front().getTerminator());
  auto own = cast<RankedTensorType>(value.getType());
  auto type = RankedTensorType::get(own.getShape(), own.getElementType());
  // A buffer that the plan divides gets its new content divided alike, whatever layout the forward pass gives it.
  Value matched = MatchOp::create(builder, statement.getLoc(), type, value, buffer, ArrayAttr());
  return StepCall("meshplan.assign", builder, statement.getLoc())
      .tensor("self", buffer)
      .tensor("source", matched)
      .make(type);
}

/// The step returns numbers that can be logged and the new contents of buffers, but not the output tensors of the
/// forward program.
void StepMaker::returnGradients(const Gradients &gradients, ArrayRef<BlockArgument> trained) {
  Operation *output = step.getBody().front().getTerminator();
  Builder builder(step.getContext());
  ArgumentTable arguments(step);
  SmallVector<Value> values;
  SmallVector<Attribute> attributes;
  auto add = [&](Value value, const Twine &name) {
    values.push_back(value);
    attributes.push_back(builder.getDictionaryAttr(named<attr::Name>(builder.getStringAttr(name))));
  };
  auto mark = [&](StringRef name, Attribute what) {
    NamedAttrList own(cast<DictionaryAttr>(attributes.back()));
    own.set(name, what);
    attributes.back() = own.getDictionary(step.getContext());
  };
  for (auto [index, value] : llvm::enumerate(output->getOperands()))
    // New contents of buffers, such as running statistics, are assigned by the step itself.
    if (auto updated = resultAttr<attr::Updates>(step, index)) {
      values.push_back(stored(value, arguments[updated]));
      attributes.push_back(builder.getDictionaryAttr(named<attr::Updates>(updated)));
    } else if (cast<RankedTensorType>(value.getType()).getNumElements() == 1) {
      add(value, resultAttr<attr::Name>(step, index).getValue());
      if (index == statement.getOutput())
        mark(attr::Loss::getNameStr(), builder.getUnitAttr());
    }
  for (BlockArgument argument : trained)
    if (Value gradient = gradients.of(argument)) {
      add(gradient, "gradients." + nameOf(argument));
      mark(attr::GradientOf::getNameStr(), referenceTo(argument));
    }
  output->setOperands(values);
  step.setType(builder.getFunctionType(step.getArgumentTypes(), ValueRange(values).getTypes()));
  step.setResAttrsAttr(builder.getArrayAttr(attributes));
}

namespace {

struct DifferentiatePass : meshplan::impl::DifferentiateBase<DifferentiatePass> {
  void runOnOperation() final {
    ModuleOp module = getOperation();
    SmallVector<LossOp> statements(module.getOps<LossOp>());
    auto forward = programOf(module, base::ProgramRole::forward);
    if (statements.empty() || !forward)
      return;
    func::FuncOp step = forward.clone();
    step.setSymName("step");
    setRole(step, base::ProgramRole::step);
    // Only training changes the buffers of the model.
    dropUpdates(forward);
    OpBuilder builder(forward);
    auto evaluation = programOf(module, base::ProgramRole::eval);
    builder.setInsertionPointAfter(evaluation ? evaluation : forward);
    builder.insert(step);
    if (failed(StepMaker(step, statements.front()).run()))
      return signalPassFailure();
    for (LossOp statement : statements)
      statement.erase();
  }
};

} // namespace
