//===- decompose_loss.cpp - losses of classes as divisible sums -----------===//
//
// See DecomposeLoss in passes.td.
//
//===----------------------------------------------------------------------===//

#include "compiler/sharding/class_losses.h"
#include "compiler/transforms/import/call_builder.h"
#include "compiler/transforms/import/loss_reduction.h"
#include "compiler/transforms/import/passes.h"

namespace meshplan {
#define GEN_PASS_DEF_DECOMPOSELOSS
#include "compiler/transforms/import/passes.h.inc"
} // namespace meshplan

using namespace mlir;
using namespace meshplan;

namespace {

class LossDecomposer {
public:
  explicit LossDecomposer(plan::CallOp call) : call(call), view(CallView::of(call)) {}

  /// Leaves a form that the kernels do not have.
  void decompose() {
    std::optional<unsigned> self = view.getOperand("self"), targetOperand = view.getOperand("target");
    if (!self || !targetOperand || view.getOperand("weight") || view.getFloat("label_smoothing", 0) != 0)
      return;
    RankedTensorType logitsType = view.operands[*self], targetType = view.operands[*targetOperand];
    if (!fits(logitsType, targetType))
      return;
    logits = toRows(call.getOperand(*self));
    target = reshape(call.getOperand(*targetOperand), {targetType.getNumElements()});
    rows = targetType.getNumElements();
    element = logitsType.getElementType();
    ignoreIndex = view.getInt("ignore_index", -100);
    isNormalized = !call.getTarget().starts_with("aten.cross_entropy_loss");
    Value loss = reduce(tokenLosses());
    // Without reduction there is a loss for each target.
    if (loss.getType() != call.getResult(0).getType())
      loss = reshape(loss, targetType.getShape());
    call.getResult(0).replaceAllUsesWith(loss);
    call.erase();
  }

private:
  /// Logits [N, C, ...] with targets [N, ...].
  static bool fits(RankedTensorType logits, RankedTensorType target) {
    if (logits.getRank() < 2 || !isa<FloatType>(logits.getElementType()) || !target.getElementType().isInteger(64))
      return false;
    SmallVector<int64_t> shape(logits.getShape());
    shape.erase(shape.begin() + 1);
    return target.getShape() == ArrayRef(shape);
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

  /// The logits with the classes last and all else in rows.
  Value toRows(Value value) const {
    auto type = cast<RankedTensorType>(value.getType());
    int64_t rank = type.getRank();
    if (rank > 2) {
      SmallVector<int64_t> order, shape;
      for (int64_t dim = 0; dim < rank; ++dim)
        order.push_back(dim == 0 ? 0 : dim == rank - 1 ? 1 : dim + 1);
      for (int64_t dim : order)
        shape.push_back(type.getDimSize(dim));
      value = make("aten.permute.default")
                  .tensor("self", value)
                  .integers("dims", order)
                  .build(shape, type.getElementType());
    }
    int64_t classes = type.getDimSize(1);
    return reshape(value, {classes == 0 ? 0 : type.getNumElements() / classes, classes});
  }

  CallBuilder make(StringRef name) const { return CallBuilder(name, call); }

  Value tokenLosses() const {
    CallBuilder losses = make("meshplan.token_loss");
    if (!isNormalized) {
      Value max = make("meshplan.row_max").tensor("input", logits).build({rows}, element);
      Value sum = make("meshplan.row_sum_exp").tensor("input", logits).tensor("max", max).build({rows}, element);
      losses.tensor("max", max).tensor("sum_exp", sum);
    }
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
    // 16 bits do not hold the number of tokens.
    bool isNarrow = element.getIntOrFloatBitWidth() < 32;
    Type wide = isNarrow ? Float32Type::get(element.getContext()) : element;
    CallBuilder sumBuilder = make("aten.sum.default");
    sumBuilder.tensor("self", losses);
    if (isNarrow)
      sumBuilder.type("dtype", wide);
    Value sum = sumBuilder.build({}, wide);
    Value count = make("meshplan.count_tokens")
                      .tensor("target", target)
                      .integer("ignore_index", ignoreIndex)
                      .type("dtype", wide)
                      .build({}, wide);
    Value mean = make("aten.div.Tensor").tensor("self", sum).tensor("other", count).build({}, wide);
    return isNarrow ? make("aten.to.dtype").tensor("self", mean).type("dtype", element).build({}, element) : mean;
  }

  plan::CallOp call;
  CallView view;
  Value logits, target;
  bool isNormalized = false; ///< the logits are logarithms of probabilities already
  int64_t rows = 0, ignoreIndex = 0;
  Type element;
};

struct DecomposeLossPass : meshplan::impl::DecomposeLossBase<DecomposeLossPass> {
  void runOnOperation() final {
    SmallVector<plan::CallOp> found;
    getOperation().walk([&](plan::CallOp call) {
      // The weight of all targets, which some forms give too, is of use only to a backward pass.
      if (isClassLoss(call.getTarget()) && call.getNumResults() > 0 &&
          llvm::all_of(call.getResults().drop_front(), [](Value value) { return value.use_empty(); }))
        found.push_back(call);
    });
    for (plan::CallOp call : found)
      LossDecomposer(call).decompose();
  }
};

} // namespace
