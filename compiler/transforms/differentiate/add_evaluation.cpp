//===- add_evaluation.cpp - the evaluation of a model in training ---------===//
//
// See AddEvaluation in passes.td.
//
//===----------------------------------------------------------------------===//

#include "compiler/sharding/families/random_ops.h"
#include "compiler/support/layer_names.h"
#include "compiler/transforms/differentiate/passes.h"
#include "dialect/plan/argument_table.h"
#include "dialect/plan/attributes.h"
#include "dialect/plan/call_builder.h"
#include "dialect/plan/programs.h"
#include "dialect/plan/updates.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace meshplan {
#define GEN_PASS_DEF_ADDEVALUATION
#include "compiler/transforms/differentiate/passes.h.inc"
} // namespace meshplan

using namespace mlir;
using namespace meshplan;
using namespace meshplan::plan;

namespace {

/// Turns a copy of the forward program into the evaluation.
class EvaluationMaker {
public:
  EvaluationMaker(func::FuncOp function, LossOp statement, bool isInMicrobatches)
      : function(function), statement(statement), isInMicrobatches(isInMicrobatches), arguments(function) {}

  void run();

private:
  void dropNothing(CallOp call);
  void keepWeights(CallOp attention);
  void chooseOutputs();
  void eraseUnread();
  void reportDraws();

  func::FuncOp function;
  LossOp statement;
  bool isInMicrobatches;
  ArgumentTable arguments;
};

} // namespace

void EvaluationMaker::run() {
  // Before unread ops are erased, so that what only computes new contents of buffers is erased with them.
  dropUpdates(function);
  for (auto call : llvm::make_early_inc_range(function.getOps<CallOp>()))
    dropNothing(call);
  chooseOutputs();
  eraseUnread();
  if (!function->getParentOfType<ModuleOp>()->hasAttr(attr::IsEvaluated::getNameStr()))
    reportDraws();
}

/// `value` converted to the type of the result of `call`. A buffer is viewed in the shape that the call gives it, or in
/// one that broadcasts to it.
static Value inTypeOf(CallOp call, Value value) {
  auto type = cast<RankedTensorType>(call.getResult(0).getType()), own = cast<RankedTensorType>(value.getType());
  if (own.getElementType() != type.getElementType())
    value = CallBuilder("aten.to.dtype", call)
                .tensor("self", value)
                .type("dtype", type.getElementType())
                .build(own.getShape(), type.getElementType());
  if (own.getShape() == type.getShape())
    return value;
  bool isView = own.getNumElements() == type.getNumElements();
  return CallBuilder(isView ? "aten.view.default" : "aten.expand.default", call)
      .tensor("self", value)
      .integers("size", type.getShape())
      .build(type.getShape(), type.getElementType());
}

/// Replaces a call by its behaviour after model.eval().
void EvaluationMaker::dropNothing(CallOp call) {
  Attribute standIn = opAttr<attr::InEvaluation>(call);
  if (auto running = dyn_cast_or_null<ArgumentRefAttr>(standIn)) {
    call.getResult(0).replaceAllUsesWith(inTypeOf(call, arguments[running]));
  } else if (auto what = dyn_cast_or_null<StandInAttr>(standIn)) {
    auto type = cast<RankedTensorType>(call.getResult(0).getType());
    Value instead = what.getValue() == StandIn::ones
                        ? CallBuilder("aten.ones.default", call)
                              .integers("size", type.getShape())
                              .type("dtype", type.getElementType())
                              .build(type.getShape(), type.getElementType())
                        : inTypeOf(call, call.getOperand(what.getValue() == StandIn::second_operand));
    call.getResult(0).replaceAllUsesWith(instead);
  } else if (CallView view = CallView::of(call);
             view.target == "meshplan.attention" && view.getFloat("dropout", 0) != 0) {
    keepWeights(call);
  }
}

/// Removes the dropout of an attention, with the arguments that only random numbers need.
void EvaluationMaker::keepWeights(CallOp attention) {
  NamedAttrList args(attention.getArgs());
  llvm::BitVector unread(attention.getNumOperands());
  for (StringRef name : {"seed", "step"})
    if (auto operand = dyn_cast_or_null<OperandRefAttr>(args.erase(name)))
      unread.set(operand.getIndex());
  args.erase("number");
  args.set("dropout", Builder(function.getContext()).getF64FloatAttr(0));
  for (NamedAttribute &arg : llvm::make_early_inc_range(args))
    if (auto operand = dyn_cast<OperandRefAttr>(arg.getValue())) {
      // References count operands, so each moves down by the number of removed operands before it.
      unsigned before = 0;
      for (unsigned index : unread.set_bits())
        before += index < operand.getIndex();
      arg.setValue(OperandRefAttr::get(function.getContext(), operand.getIndex() - before));
    }
  attention.setArgsAttr(args.getDictionary(function.getContext()));
  attention->eraseOperands(unread);
}

/// Marks the loss. With microbatches, outputs that are not a single number are removed: they would be live for all
/// microbatches at once.
void EvaluationMaker::chooseOutputs() {
  Operation *output = function.getBody().front().getTerminator();
  setResultAttr<attr::Loss>(function, statement.getOutput(), UnitAttr::get(function.getContext()));
  if (!isInMicrobatches)
    return;
  llvm::BitVector left(output->getNumOperands());
  for (auto [index, value] : llvm::enumerate(output->getOperands()))
    left[index] = cast<RankedTensorType>(value.getType()).getNumElements() != 1;
  output->eraseOperands(left);
  [[maybe_unused]] LogicalResult erased = function.eraseResults(left);
}

/// Also erases settings that only dropouts read.
void EvaluationMaker::eraseUnread() {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(function.getBody().front())))
    if (isOpTriviallyDead(&op))
      op.erase();
  llvm::BitVector unread(function.getNumArguments());
  for (BlockArgument argument : function.getArguments())
    unread[argument.getArgNumber()] = argumentKind(argument) == ArgumentKind::setting && argument.use_empty();
  [[maybe_unused]] LogicalResult erased = function.eraseArguments(unread);
}

/// The operator's name in the archive.
static StringRef nameOf(CallOp call) {
  auto name = dyn_cast<NameLoc>(call.getLoc());
  return name ? name.getName().getValue() : call.getTarget();
}

/// Warns of random numbers outside of dropouts: the archive does not tell whether the model draws them only in
/// training.
void EvaluationMaker::reportDraws() {
  SmallVector<CallOp> draws(llvm::make_filter_range(function.getOps<CallOp>(),
                                                    [](CallOp call) { return drawCount(CallView::of(call)) != 0; }));
  if (draws.empty())
    return;
  constexpr size_t maxNotes = 3;
  auto diagnostic =
      emitWarning(draws.front().getLoc())
      << "program 'eval' draws random numbers as training does: the archive does not tell which of them the model "
         "draws only in training";
  for (CallOp call : ArrayRef(draws).take_front(maxNotes))
    diagnostic.attachNote() << "drawn by " << operatorText(nameOf(call), call.getModule());
  if (draws.size() > maxNotes)
    diagnostic.attachNote() << "and " << draws.size() - maxNotes << " more";
  diagnostic.attachNote() << "help: if the model draws them only in training, write them as a dropout, or evaluate "
                             "with 'meshplan-run forward' and a "
                             "plan of the model that is exported after 'model.eval()'";
}

namespace {

struct AddEvaluationPass : meshplan::impl::AddEvaluationBase<AddEvaluationPass> {
  void runOnOperation() final {
    ModuleOp module = getOperation();
    auto forward = programOf(module, base::ProgramRole::forward);
    SmallVector<LossOp> losses(module.getOps<LossOp>());
    if (forward && !losses.empty()) {
      func::FuncOp evaluation = forward.clone();
      evaluation.setSymName("eval");
      setRole(evaluation, base::ProgramRole::eval);
      OpBuilder builder(forward);
      builder.setInsertionPointAfter(forward);
      builder.insert(evaluation);
      EvaluationMaker(evaluation, losses.front(), !module.getOps<MicrobatchesOp>().empty()).run();
    }
    // The forward program and the step keep their training behaviour; no later pass asks for the other one.
    module.walk([](CallOp call) { call->removeAttr(attr::InEvaluation::getNameStr()); });
  }
};

} // namespace
