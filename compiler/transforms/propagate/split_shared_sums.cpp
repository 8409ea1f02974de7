//===- split_shared_sums.cpp - addends of blocks that ranks share ---------===//

#include "compiler/transforms/propagate/split_shared_sums.h"
#include "dialect/plan/call_builder.h"

using namespace mlir;
using namespace meshplan;
using namespace meshplan::plan;

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
