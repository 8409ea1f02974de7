//===- split_loss_reductions.cpp - a loss as elements and their sum -------===//
//
// See SplitLossReductions in passes.td.
//
//===----------------------------------------------------------------------===//

#include "compiler/transforms/import/call_builder.h"
#include "compiler/transforms/import/loss_reduction.h"
#include "compiler/transforms/import/passes.h"

namespace meshplan {
#define GEN_PASS_DEF_SPLITLOSSREDUCTIONS
#include "compiler/transforms/import/passes.h.inc"
} // namespace meshplan

using namespace mlir;
using namespace meshplan;

/// Losses whose elements come from one element of each operand.
static constexpr StringRef losses[] = {
    "aten.mse_loss.default",
    "aten.l1_loss.default",
    "aten.smooth_l1_loss.default",
    "aten.huber_loss.default",
    "aten.soft_margin_loss.default",
    "aten.binary_cross_entropy.default",
    "aten.binary_cross_entropy_with_logits.default",
    "aten.kl_div.default",
};

static void split(plan::CallOp call) {
  CallView view = CallView::of(call);
  LossReduction reduction = lossReductionOf(view);
  std::optional<unsigned> self = view.getOperand("self"), target = view.getOperand("target");
  if (reduction == LossReduction::None || !self || !target || call.getNumResults() != 1 ||
      view.operands[*self].getShape() != view.operands[*target].getShape())
    return;
  Type element = cast<RankedTensorType>(call.getResult(0).getType()).getElementType();
  OpBuilder builder(call);
  NamedAttrList args(call.getArgs());
  args.set("reduction", builder.getI64IntegerAttr(static_cast<int64_t>(LossReduction::None)));
  auto type = RankedTensorType::get(view.operands[*self].getShape(), element);
  auto elements = plan::CallOp::create(builder, call.getLoc(), TypeRange(type), call.getTarget(), call.getOperands(),
                                       args.getDictionary(builder.getContext()), call.getModuleAttr());
  Value loss = CallBuilder(reduction == LossReduction::Mean ? "aten.mean.default" : "aten.sum.default", call)
                   .tensor("self", elements.getResult(0))
                   .build({}, element);
  call.getResult(0).replaceAllUsesWith(loss);
  call.erase();
}

namespace {
struct SplitLossReductionsPass : meshplan::impl::SplitLossReductionsBase<SplitLossReductionsPass> {
  void runOnOperation() final {
    SmallVector<plan::CallOp> found;
    getOperation().walk([&](plan::CallOp call) {
      if (llvm::is_contained(losses, call.getTarget()))
        found.push_back(call);
    });
    llvm::for_each(found, split);
  }
};
} // namespace
