//===- split_sums.cpp - sums that a decision makes partial ----------------===//

#include "compiler/transforms/propagate/split_sums.h"
#include "dialect/plan/call_builder.h"
#include "dialect/plan/module_runs.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace meshplan;
using namespace meshplan::plan;

/// Adds the addend after the call, viewed in `shape` first if that is not empty.
static void addAfter(CallOp call, Value addend, ArrayRef<int64_t> shape) {
  OpBuilder builder(call->getContext());
  builder.setInsertionPointAfter(call);
  auto operand = [&](StringRef name, int64_t index) {
    return builder.getNamedAttr(name, OperandRefAttr::get(call.getContext(), index));
  };
  auto make = [&](StringRef target, Type type, ValueRange operands, ArrayRef<NamedAttribute> args) {
    auto made = CallOp::create(builder, call.getLoc(), type, builder.getStringAttr(target), operands,
                               builder.getDictionaryAttr(args), call.getModuleAttr());
    copyModuleRuns(made, call);
    return made.getResult(0);
  };
  if (!shape.empty())
    addend = make("aten.view.default", RankedTensorType::get(shape, getElementTypeOrSelf(addend.getType())), addend,
                  {operand("self", 0), builder.getNamedAttr("size", builder.getI64ArrayAttr(shape))});
  Value sum = make("aten.add.Tensor", call.getResultTypes()[0], {call.getResult(0), addend},
                   {operand("self", 0), operand("other", 1)});
  // The addition reads the product, so its own use must stay.
  call.getResult(0).replaceAllUsesExcept(sum, sum.getDefiningOp());
}

bool meshplan::splitAddend(CallOp call, const OpRecord &record, const FactorRule &rule, const CallDecision &decision) {
  // Only where the contraction is divided: elsewhere the fused operator stays, which rounds once.
  bool contracts = false;
  for (auto [factor, division] : llvm::zip(rule.factors, decision.factors))
    contracts |= factor.kind == FactorKind::sum && !division.axes.empty();
  std::optional<AddendSplit> split =
      contracts && record.splitAddend ? record.splitAddend(CallView::of(call)) : std::nullopt;
  if (!split)
    return false;
  Value addend = call.getOperands()[split->addend];
  SmallVector<Value> rest =
      llvm::map_to_vector(split->call.operands, [&](unsigned index) { return Value(call.getOperands()[index]); });
  call->setOperands(rest);
  call.setTarget(split->call.target);
  call.setArgsAttr(split->call.args);
  addAfter(call, addend, split->shape);
  return true;
}

/// True if ranks have only addends of one of the sums: neighbours hold the same blocks, or there is a single block and
/// its sharers are divided.
static bool hasSharedSums(CallOp call, const SharedSums &sums, const CallDecision &decision) {
  bool isCounterDivided = !getSharding(call.getOperand(sums.counter)).getDims()[sums.dim].getAxes().empty();
  return llvm::any_of(sums.results, [&](unsigned index) {
    bool isOne = cast<RankedTensorType>(call.getResult(index).getType()).getDimSize(sums.dim) == 1;
    return isShared(decision.results[index].getDims()[sums.dim]) || (isOne && isCounterDivided);
  });
}

bool meshplan::splitSharedSums(CallOp call, const OpRecord &record, const CallDecision &decision) {
  std::optional<SharedSums> split = record.splitSharedSums ? record.splitSharedSums(CallView::of(call)) : std::nullopt;
  if (!split || !hasSharedSums(call, *split, decision))
    return false;
  call.setArgsAttr(split->args);
  OpBuilder builder(call->getContext());
  builder.setInsertionPointAfter(call);
  for (unsigned index : split->results) {
    Value result = call.getResult(index);
    auto type = cast<RankedTensorType>(result.getType());
    SmallVector<int64_t> apart(type.getShape());
    apart[split->dim] *= split->sharers;
    // With an index for each sharer the dim divides like that of the query heads, and each rank has all addends of its
    // indices.
    result.setType(RankedTensorType::get(apart, type.getElementType()));
    Value sum = CallBuilder::backward("meshplan.sum_shared_heads", call, builder)
                    .tensor("input", result)
                    .integer("groups", type.getDimSize(split->dim))
                    .integer("heads_per_group", split->sharers)
                    .build(type.getShape(), type.getElementType());
    result.replaceAllUsesExcept(sum, sum.getDefiningOp());
  }
  return true;
}
