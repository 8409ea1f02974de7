//===- expert_weights.cpp - weights that compute routed tokens -------------===//

#include "compiler/transforms/place/expert_weights.h"
#include "compiler/sharding/dataflow/carriers.h"
#include "compiler/sharding/op_record.h"

using namespace mlir;
using namespace meshplan;
using namespace meshplan::plan;

llvm::SetVector<BlockArgument> meshplan::weightsOfExperts(ArrayRef<CallOp> calls) {
  llvm::SetVector<BlockArgument> weights;
  for (CallOp call : calls) {
    CallView view = CallView::of(call);
    // What computes rows of experts reads how many each expert has, beside the weights or biases of all experts.
    if (!view.getOperand("counts"))
      continue;
    for (StringRef name : {"weight", "bias"})
      if (std::optional<unsigned> operand = view.getOperand(name))
        if (BlockArgument weight = sourceArgument(call.getOperand(*operand)); weight && isWeight(weight))
          weights.insert(weight);
  }
  return weights;
}
