//===- decompose_loss.cpp - cross entropy as divisible sums ---------------===//
//
// See DecomposeLoss in passes.td.
//
//===----------------------------------------------------------------------===//

#include "compiler/sharding/op_record.h"
#include "compiler/transforms/import/call_builder.h"
#include "compiler/transforms/import/passes.h"

namespace meshplan {
#define GEN_PASS_DEF_DECOMPOSELOSS
#include "compiler/transforms/import/passes.h.inc"
} // namespace meshplan

using namespace mlir;
using namespace meshplan;

namespace {

/// How PyTorch numbers them.
enum class LossReduction { None = 0, Mean = 1, Sum = 2 };

class LossDecomposer {
public:
  explicit LossDecomposer(plan::CallOp call) : call(call), view(CallView::of(call)) {}

  /// Leaves a form that the kernels do not have.
  void decompose() {
    std::optional<unsigned> self = view.getOperand("self"), targetOperand = view.getOperand("target");
    if (!self || !targetOperand || view.getOperand("weight") || view.getFloat("label_smoothing", 0) != 0)
      return;
    RankedTensorType logitsType = view.operands[*self], targetType = view.operands[*targetOperand];
    if (logitsType.getRank() != 2 || targetType.getRank() != 1 || !isa<FloatType>(logitsType.getElementType()) ||
        !targetType.getElementType().isInteger(64) || logitsType.getDimSize(0) != targetType.getDimSize(0))
      return;
    logits = call.getOperand(*self);
    target = call.getOperand(*targetOperand);
    rows = logitsType.getDimSize(0);
    element = logitsType.getElementType();
    ignoreIndex = view.getInt("ignore_index", -100);
    call.getResult(0).replaceAllUsesWith(reduce(tokenLosses()));
    call.erase();
  }

private:
  CallBuilder make(StringRef name) const { return CallBuilder(name, call); }

  Value tokenLosses() const {
    Value max = make("meshplan.row_max").tensor("input", logits).build({rows}, element);
    Value sum = make("meshplan.row_sum_exp").tensor("input", logits).tensor("max", max).build({rows}, element);
    Value picked = make("meshplan.row_pick").tensor("input", logits).tensor("target", target).build({rows}, element);
    return make("meshplan.token_loss")
        .tensor("max", max)
        .tensor("sum_exp", sum)
        .tensor("picked", picked)
        .tensor("target", target)
        .integer("ignore_index", ignoreIndex)
        .integer("classes", cast<RankedTensorType>(logits.getType()).getDimSize(1))
        .build({rows}, element);
  }

  Value reduce(Value losses) const {
    auto reduction = static_cast<LossReduction>(view.getInt("reduction", static_cast<int64_t>(LossReduction::Mean)));
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
  int64_t rows = 0, ignoreIndex = 0;
  Type element;
};

struct DecomposeLossPass : meshplan::impl::DecomposeLossBase<DecomposeLossPass> {
  void runOnOperation() final {
    SmallVector<plan::CallOp> losses;
    getOperation().walk([&](plan::CallOp call) {
      if (call.getTarget() == "aten.cross_entropy_loss.default" && call.getNumResults() == 1)
        losses.push_back(call);
    });
    for (plan::CallOp call : losses)
      LossDecomposer(call).decompose();
  }
};

} // namespace
