//===- expert_weights.cpp - weights of the experts of a mixture -----------===//

#include "compiler/sharding/dataflow/expert_weights.h"
#include "compiler/sharding/dataflow/carriers.h"
#include "compiler/sharding/op_record.h"

using namespace mlir;
using namespace meshplan;
using namespace meshplan::plan;

SmallVector<BlockArgument> meshplan::weightsOfExperts(CallOp call) {
  CallView view = CallView::of(call);
  SmallVector<BlockArgument> weights;
  if (!view.getOperand("counts"))
    return weights;
  for (StringRef name : {"weight", "bias"})
    if (std::optional<unsigned> operand = view.getOperand(name))
      if (BlockArgument weight = sourceArgument(call.getOperand(*operand)))
        weights.push_back(weight);
  return weights;
}

llvm::SetVector<BlockArgument> meshplan::weightsOfExperts(ArrayRef<CallOp> calls) {
  llvm::SetVector<BlockArgument> weights;
  for (CallOp call : calls)
    for (BlockArgument weight : weightsOfExperts(call))
      if (isWeight(weight))
        weights.insert(weight);
  return weights;
}

StringRef meshplan::pathOfExperts(func::FuncOp function) {
  for (auto call : function.getOps<CallOp>())
    if (CallView::of(call).getOperand("counts"))
      return call.getModule().value_or("");
  return {};
}
