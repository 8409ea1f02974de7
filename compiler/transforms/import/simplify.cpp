//===- simplify.cpp - removes calls that change nothing -------------------===//
//
// See Simplify in passes.td.
//
//===----------------------------------------------------------------------===//

#include "compiler/sharding/families/canonical_names.h"
#include "compiler/sharding/families/random_ops.h"
#include "compiler/support/layer_names.h"
#include "compiler/transforms/import/composites/composites.h"
#include "compiler/transforms/import/erase_unread.h"
#include "compiler/transforms/import/passes.h"
#include "dialect/plan/attributes.h"
#include "dialect/plan/call_builder.h"
#include "mlir/IR/OperationSupport.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringSwitch.h"

namespace meshplan {
#define GEN_PASS_DEF_SIMPLIFY
#include "compiler/transforms/import/passes.h.inc"
} // namespace meshplan

using namespace mlir;
using namespace meshplan;

namespace {

/// Operations that differ only in their location.
struct SameOperation : llvm::DenseMapInfo<Operation *> {
  static unsigned getHashValue(const Operation *op) {
    return OperationEquivalence::computeHash(const_cast<Operation *>(op), OperationEquivalence::directHashValue,
                                             OperationEquivalence::ignoreHashValue,
                                             OperationEquivalence::IgnoreLocations);
  }
  static bool isEqual(const Operation *left, const Operation *right) {
    if (left == right || left == getEmptyKey() || left == getTombstoneKey() || right == getEmptyKey() ||
        right == getTombstoneKey())
      return left == right;
    return OperationEquivalence::isEquivalentTo(const_cast<Operation *>(left), const_cast<Operation *>(right),
                                                OperationEquivalence::IgnoreLocations);
  }
};

class Simplifier {
public:
  LogicalResult run(Block &block) {
    for (BlockArgument argument : block.getArguments())
      if (isTrainable(argument))
        trained.insert(argument);
    for (auto call : llvm::make_early_inc_range(block.getOps<plan::CallOp>()))
      hasFailed |= failed(splitComposite(call));
    for (auto call : llvm::make_early_inc_range(block.getOps<plan::CallOp>()))
      visit(call);
    eraseUnread(block);
    return failure(hasFailed);
  }

private:
  /// Without function or attribute a tensor counts as trainable. A parameter that the plan declares unused counts, too:
  /// whether the loss reaches it is checked later, and a detach that stops the gradient must be there then.
  static bool isTrainable(BlockArgument argument) {
    std::optional<plan::ArgumentKind> kind = plan::argumentKind(argument);
    if (!kind)
      return true;
    auto function = cast<func::FuncOp>(argument.getOwner()->getParentOp());
    auto trainable = plan::argAttr<plan::attr::Trainable>(function, argument.getArgNumber());
    bool isUnused = plan::argAttr<plan::attr::Unused>(function, argument.getArgNumber()) != nullptr;
    return kind == plan::ArgumentKind::parameter && (isUnused || !trainable || trainable.getValue());
  }

  static void rewrite(plan::CallOp call, const std::optional<CallRewrite> &rewrite) {
    if (!rewrite)
      return;
    call->setOperands(
        llvm::map_to_vector(rewrite->operands, [&](unsigned index) { return Value(call.getOperand(index)); }));
    call.setTarget(rewrite->target);
    call.setArgsAttr(rewrite->args);
  }

  /// Drops operands that are used only for shape or dtype, so that their layout does not matter.
  static void dropUnread(plan::CallOp call) {
    const OpRecord *record = OpRegistry::get().lookup(call.getTarget());
    if (record && record->dropUnread)
      rewrite(call, record->dropUnread(CallView::of(call)));
  }

  /// PyTorch records the last states of an lstm with an extra dim; they have the shapes of the first states. The shapes
  /// of their readers follow from the wrong shape, so only states without readers are corrected.
  void correctStates(plan::CallOp call) {
    SmallVector<std::optional<unsigned>> first = CallView::of(call).getOperands("hx");
    if (call.getTarget() != "aten.lstm.input" || call.getNumResults() != first.size() + 1)
      return;
    for (auto [state, last] : llvm::zip(first, call.getResults().drop_front()))
      if (state && last.use_empty())
        last.setType(call.getOperand(*state).getType());
      else if (state && last.getType() != call.getOperand(*state).getType())
        return refuseStates(call, last, call.getOperand(*state));
  }

  void refuseStates(plan::CallOp call, Value last, Value first) {
    hasFailed = true;
    auto written = cast<RankedTensorType>(last.getType()), made = cast<RankedTensorType>(first.getType());
    auto diagnostic = call.emitError() << "the model reads the last states of "
                                       << operatorText(call.getTarget(), call.getModule())
                                       << ", which PyTorch has exported with " << written.getRank()
                                       << " dims and which have " << made.getRank();
    diagnostic.attachNote() << "help: read the output of the layer instead: its last position is the last state";
  }

  void visit(plan::CallOp call) {
    rewrite(call, toCanonicalOperator(CallView::of(call)));
    dropUnread(call);
    correctStates(call);
    // Before the search for equal calls, because operands that are forwarded make more calls equal.
    if (Value same = unchangedOperand(call)) {
      call.getResult(0).replaceAllUsesWith(same);
      call.erase();
      return;
    }
    // A clone provides memory that a view can read; contiguous does the same, but copies only where it has to.
    if (call.getTarget() == "aten.clone.default")
      call.setTarget("aten.contiguous.default");
    if (!drawsRandomNumbers(CallView::of(call))) {
      // Models compute masks and rotary angles once per layer. As one value they are folded once, and held once.
      auto [known, isNew] = calls.insert(call);
      if (!isNew) {
        call.replaceAllUsesWith(*known);
        call.erase();
        return;
      }
    }
    bool isTrained = llvm::any_of(call.getOperands(), [&](Value operand) { return trained.contains(operand); });
    if (isTrained && call.getTarget() != "aten.detach.default")
      trained.insert(call.result_begin(), call.result_end());
  }

  /// The operand that a call returns as its only result, or null.
  Value unchangedOperand(plan::CallOp call) {
    CallView view = CallView::of(call);
    std::optional<unsigned> input = view.getOperand("self");
    if (view.target == "aten.dropout.default" && !drawsRandomNumbers(view))
      input = view.getOperand("input");
    else if (!input || !keepsValue(view, call.getOperand(*input)))
      return {};
    bool same = input && call.getNumResults() == 1 && call.getOperand(*input).getType() == call.getResultTypes()[0];
    return same ? call.getOperand(*input) : Value();
  }

  /// True if the result equals `self`, given that the types are equal.
  bool keepsValue(const CallView &view, Value self) {
    if (view.target == "aten.detach.default")
      // A detach of what is trained stops a gradient; any other one does nothing.
      return !trained.contains(self);
    if (view.target == "aten.contiguous.default") {
      auto made = self.getDefiningOp<plan::CallOp>();
      return made && made.getTarget() == "aten.contiguous.default";
    }
    return llvm::StringSwitch<bool>(view.target)
        .Cases({"aten.to.dtype", "aten.to.dtype_layout", "aten.to.device", "aten.to.other", "aten._to_copy.default",
                "aten.type_as.default"},
               true)
        .Cases({"aten.alias.default", "aten.lift.default", "aten.lift_fresh.default", "aten.lift_fresh_copy.default"},
               true)
        .Default(false);
  }

  bool hasFailed = false;
  llvm::DenseSet<Value> trained; ///< computed from a trainable parameter
  llvm::DenseSet<Operation *, SameOperation> calls;
};

struct SimplifyPass : meshplan::impl::SimplifyBase<SimplifyPass> {
  void runOnOperation() final {
    for (Block &block : getOperation().getBody())
      if (failed(Simplifier().run(block)))
        return signalPassFailure();
  }
};

} // namespace
