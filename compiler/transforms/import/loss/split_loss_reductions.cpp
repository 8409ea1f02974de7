//===- split_loss_reductions.cpp - splits off the reduction of a loss -----===//
//
// See SplitLossReductions in passes.td.
//
//===----------------------------------------------------------------------===//

#include "compiler/transforms/import/loss/loss_reduction.h"
#include "compiler/transforms/import/passes.h"
#include "dialect/plan/call_builder.h"

namespace meshplan {
#define GEN_PASS_DEF_SPLITLOSSREDUCTIONS
#include "compiler/transforms/import/passes.h.inc"
} // namespace meshplan

using namespace mlir;
using namespace meshplan;

static bool isElementLoss(plan::CallOp call) {
  const OpRecord *record = OpRegistry::get().lookup(call.getTarget());
  return record && record->isElementLoss;
}

/// The mean or sum of losses. PyTorch rounds that of 16-bit losses once, so ranks must not round their addends.
static Value reduce(Value losses, LossReduction reduction, plan::CallOp like) {
  Type element = cast<RankedTensorType>(losses.getType()).getElementType();
  Type wide = sumTypeOf(element);
  bool isNarrow = wide != element;
  CallBuilder builder(reduction == LossReduction::Mean ? "aten.mean.default" : "aten.sum.default", like);
  builder.tensor("self", losses);
  if (isNarrow)
    builder.type("dtype", wide);
  Value loss = builder.build({}, wide);
  return isNarrow ? CallBuilder("aten.to.dtype", like).tensor("self", loss).type("dtype", element).build({}, element)
                  : loss;
}

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
  plan::copyModuleRuns(elements, call);
  call.getResult(0).replaceAllUsesWith(reduce(elements.getResult(0), reduction, call));
  call.erase();
}

namespace {
struct SplitLossReductionsPass : meshplan::impl::SplitLossReductionsBase<SplitLossReductionsPass> {
  void runOnOperation() final {
    SmallVector<plan::CallOp> found;
    getOperation().walk([&](plan::CallOp call) {
      if (isElementLoss(call))
        found.push_back(call);
    });
    llvm::for_each(found, split);
  }
};
} // namespace
