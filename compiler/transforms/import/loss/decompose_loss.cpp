//===- decompose_loss.cpp - decomposes losses of classes ------------------===//
//
// See DecomposeLoss in passes.td.
//
//===----------------------------------------------------------------------===//
//
// A cross entropy needs a whole row of logits. Its parts need only three numbers of a row from other ranks.
//
// Example: logits [6, 12] over tp = 3 on the classes, targets [6]; a rank has [6, 4].
//
//   row_max       [6]   maximum of 4, then over ranks
//   row_sum_exp   [6]   sum of exp(x - max) of 4, then over ranks
//   row_pick      [6]   x[target] on the rank that has it, 0 on others: a sum
//   token_loss    [6]   log(sum_exp) + max - picked
//
// 18 numbers are reduced instead of 72 gathered, and the gradient of the logits is computed where they are
// (derivatives/rules/loss.cpp).

#include "compiler/sharding/families/class_losses.h"
#include "compiler/support/layer_names.h"
#include "compiler/transforms/import/loss/loss_reduction.h"
#include "compiler/transforms/import/passes.h"
#include "dialect/plan/call_builder.h"
#include "dialect/plan/plan.h"
#include "llvm/ADT/SetVector.h"

namespace meshplan {
#define GEN_PASS_DEF_DECOMPOSELOSS
#include "compiler/transforms/import/passes.h.inc"
} // namespace meshplan

using namespace mlir;
using namespace meshplan;

/// The inputs of the model from which a value is computed.
static llvm::SetVector<BlockArgument> inputsReadBy(Value value) {
  llvm::SetVector<BlockArgument> inputs;
  llvm::SetVector<Value> open;
  open.insert(value);
  for (size_t index = 0; index < open.size(); ++index) {
    if (auto argument = dyn_cast<BlockArgument>(open[index])) {
      if (plan::argumentKind(argument) == plan::ArgumentKind::input)
        inputs.insert(argument);
    } else {
      open.insert_range(open[index].getDefiningOp()->getOperands());
    }
  }
  return inputs;
}

/// Reports logits and targets with different numbers of rows. The plan may bind input extents that the exporter took
/// for independent to contradicting sizes.
static LogicalResult reportOtherTargets(plan::CallOp call, unsigned logits, unsigned target) {
  auto count = [&](unsigned operand) {
    return cast<RankedTensorType>(call.getOperand(operand).getType()).getDimSize(0);
  };
  llvm::SetVector<BlockArgument> ofTarget = inputsReadBy(call.getOperand(target));
  auto diagnostic = emitError(ofTarget.empty() ? call.getLoc() : ofTarget.front().getLoc())
                    << "the loss " << operatorText(call.getTarget(), call.getModule()) << " has " << count(logits)
                    << " rows of logits and " << count(target) << " targets";
  for (BlockArgument input : inputsReadBy(call.getOperand(logits)))
    if (!ofTarget.contains(input))
      diagnostic.attachNote(input.getLoc()) << "the logits are computed from this input";
  diagnostic.attachNote() << "help: give corresponding dims of the inputs the same size";
  return failure();
}

namespace {

class LossDecomposer {
public:
  explicit LossDecomposer(plan::CallOp call) : call(call), view(CallView::of(call)) {}

  /// Leaves forms without a kernel unchanged. Fails with an error if logits and targets do not match.
  LogicalResult decompose() {
    std::optional<unsigned> self = view.getOperand("self"), targetOperand = view.getOperand("target");
    if (!self || !targetOperand)
      return success();
    logits = call.getOperand(*self);
    target = call.getOperand(*targetOperand);
    if (view.operands[*self].getRank() == 1 && view.operands[*targetOperand].getRank() == 0)
      addSampleDim();
    auto logitsType = cast<RankedTensorType>(logits.getType()), targetType = cast<RankedTensorType>(target.getType());
    std::optional<unsigned> weightOperand = view.getOperand("weight");
    if (hasOtherTargets(logitsType, targetType))
      return reportOtherTargets(call, *self, *targetOperand);
    if (!fits(logitsType, targetType) || (weightOperand && !isOfClasses(view.operands[*weightOperand], logitsType)))
      return success();
    logits = toRows(logits);
    target = reshape(target, {targetType.getNumElements()});
    rows = targetType.getNumElements();
    element = logitsType.getElementType();
    ignoreIndex = view.getInt("ignore_index", -100);
    smoothing = view.getFloat("label_smoothing", 0);
    isNormalized = !call.getTarget().starts_with("aten.cross_entropy_loss");
    if (weightOperand)
      weigh(call.getOperand(*weightOperand));
    Value loss = reduce(tokenLosses());
    // Without reduction there is a loss for each target.
    if (loss.getType() != call.getResult(0).getType())
      loss = reshape(loss, cast<RankedTensorType>(call.getResult(0).getType()).getShape());
    call.getResult(0).replaceAllUsesWith(loss);
    call.erase();
    return success();
  }

private:
  /// Adds the dim of samples to a single sample.
  void addSampleDim() {
    logits = reshape(logits, {1, cast<RankedTensorType>(logits.getType()).getDimSize(0)});
    target = reshape(target, {1});
  }

  /// True for [N, C] with targets [M], M other than N.
  static bool hasOtherTargets(RankedTensorType logits, RankedTensorType target) {
    return logits.getRank() == 2 && target.getRank() == 1 && logits.getDimSize(0) != target.getDimSize(0);
  }

  /// True for logits [N, C, ...] with targets [N, ...].
  static bool fits(RankedTensorType logits, RankedTensorType target) {
    if (logits.getRank() < 2 || !isa<FloatType>(logits.getElementType()) || !target.getElementType().isInteger(64))
      return false;
    SmallVector<int64_t> shape(logits.getShape());
    shape.erase(shape.begin() + 1);
    return target.getShape() == ArrayRef(shape);
  }

  /// True if the weight has a number for each class.
  static bool isOfClasses(RankedTensorType weight, RankedTensorType logits) {
    return weight.getShape() == ArrayRef(logits.getDimSize(1)) && weight.getElementType() == logits.getElementType();
  }

  Value reshape(Value value, ArrayRef<int64_t> shape) const {
    auto type = cast<RankedTensorType>(value.getType());
    if (type.getShape() == shape)
      return value;
    return make("aten.reshape.default")
        .tensor("self", value)
        .integers("shape", shape)
        .build(shape, type.getElementType());
  }

  /// The dims with the classes, dim 1, moved to the end.
  static SmallVector<int64_t> classesLast(int64_t rank) {
    SmallVector<int64_t> order{0};
    for (int64_t dim = 2; dim < rank; ++dim)
      order.push_back(dim);
    order.push_back(1);
    return order;
  }

  /// Moves the classes to the last dim and merges all others into rows.
  Value toRows(Value value) const {
    auto type = cast<RankedTensorType>(value.getType());
    // PyTorch has the classes in dim 1; rows are contiguous only with the classes last.
    SmallVector<int64_t> order = classesLast(type.getRank());
    SmallVector<int64_t> shape = llvm::map_to_vector(order, [&](int64_t dim) { return type.getDimSize(dim); });
    if (!llvm::is_sorted(order))
      value = make("aten.permute.default")
                  .tensor("self", value)
                  .integers("dims", order)
                  .build(shape, type.getElementType());
    int64_t classes = type.getDimSize(1);
    return reshape(value, {classes == 0 ? 0 : type.getNumElements() / classes, classes});
  }

  CallBuilder make(StringRef name) const { return CallBuilder(name, call); }

  /// Computes the weights of the targets from those of the classes.
  void weigh(Value weight) {
    classWeights = weight;
    targetWeights = make("meshplan.class_weight")
                        .tensor("weight", weight)
                        .tensor("target", target)
                        .integer("ignore_index", ignoreIndex)
                        .build({rows}, element);
  }

  /// Adds the normalizers of each row to `losses` and, with label smoothing, the sum of its log probabilities.
  void normalize(CallBuilder &losses) const {
    Value max = make("meshplan.row_max").tensor("input", logits).build({rows}, element);
    Value sum = make("meshplan.row_sum_exp").tensor("input", logits).tensor("max", max).build({rows}, wide());
    losses.tensor("max", max).tensor("sum_exp", sum);
    if (smoothing == 0)
      return;
    CallBuilder logarithms = make("meshplan.row_sum_log_softmax");
    logarithms.tensor("input", logits).tensor("max", max).tensor("sum_exp", sum);
    if (classWeights)
      logarithms.tensor("weight", classWeights);
    losses.tensor("row_sum", logarithms.build({rows}, wide())).number("label_smoothing", smoothing);
  }

  Value tokenLosses() const {
    CallBuilder losses = make("meshplan.token_loss");
    if (!isNormalized)
      normalize(losses);
    if (targetWeights)
      losses.tensor("weight", targetWeights);
    Value picked = make("meshplan.row_pick").tensor("input", logits).tensor("target", target).build({rows}, element);
    return losses.tensor("picked", picked)
        .tensor("target", target)
        .integer("ignore_index", ignoreIndex)
        .integer("classes", cast<RankedTensorType>(logits.getType()).getDimSize(1))
        .build({rows}, element);
  }

  Value reduce(Value losses) const {
    LossReduction reduction = lossReductionOf(view);
    if (reduction == LossReduction::None)
      return losses;
    if (reduction == LossReduction::Sum)
      return make("aten.sum.default").tensor("self", losses).build({}, element);
    // A mean as a quotient of two sums: each of them can be summed over ranks and microbatches, a mean of means cannot,
    // where numbers of counted targets differ.
    Value sum = sumWide(losses);
    Value count = targetWeights ? sumWide(targetWeights)
                                : make("meshplan.count_tokens")
                                      .tensor("target", target)
                                      .integer("ignore_index", ignoreIndex)
                                      .type("dtype", wide())
                                      .build({}, wide());
    Value mean = make("aten.div.Tensor").tensor("self", sum).tensor("other", count).build({}, wide());
    return isNarrow() ? make("aten.to.dtype").tensor("self", mean).type("dtype", element).build({}, element) : mean;
  }

  bool isNarrow() const { return wide() != element; }
  Type wide() const { return sumTypeOf(element); }

  Value sumWide(Value values) const {
    CallBuilder builder = make("aten.sum.default");
    builder.tensor("self", values);
    if (isNarrow())
      builder.type("dtype", wide());
    return builder.build({}, wide());
  }

  plan::CallOp call;
  CallView view;
  Value logits, target;
  bool isNormalized = false;         ///< the logits are log probabilities already
  Value classWeights, targetWeights; ///< null: all classes have the same weight
  int64_t rows = 0, ignoreIndex = 0;
  double smoothing = 0;
  Type element;
};

struct DecomposeLossPass : meshplan::impl::DecomposeLossBase<DecomposeLossPass> {
  void runOnOperation() final {
    SmallVector<plan::CallOp> found;
    getOperation().walk([&](plan::CallOp call) {
      // The total weight of the targets, which some forms return as well, is used only by a backward pass.
      if (isClassLoss(call.getTarget()) && call.getNumResults() > 0 &&
          llvm::all_of(call.getResults().drop_front(), [](Value value) { return value.use_empty(); }))
        found.push_back(call);
    });
    for (plan::CallOp call : found)
      if (failed(LossDecomposer(call).decompose()))
        return signalPassFailure();
  }
};

} // namespace
