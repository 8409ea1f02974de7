//===- split_shared_sums.cpp - addends of what ranks share ----------------===//

#include "compiler/transforms/propagate/split_shared_sums.h"
#include "dialect/plan/call_builder.h"

using namespace mlir;
using namespace meshplan;
using namespace meshplan::plan;

bool meshplan::splitSharedSums(CallOp call, const OpRecord &record, const CallDecision &decision) {
  bool shares =
      llvm::any_of(decision.results, [](ShardingAttr sharding) { return llvm::any_of(sharding.getDims(), isShared); });
  std::optional<SharedSums> split =
      shares && record.splitSharedSums ? record.splitSharedSums(CallView::of(call)) : std::nullopt;
  if (!split)
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
