//===- updates.cpp - results that become new contents of arguments --------===//

#include "dialect/plan/updates.h"
#include "dialect/plan/attributes.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace meshplan::plan;

bool meshplan::plan::isUpdate(OpOperand &use) {
  auto end = dyn_cast<func::ReturnOp>(use.getOwner());
  return end && resultAttr<attr::Updates>(end->getParentOfType<func::FuncOp>(), use.getOperandNumber());
}

void meshplan::plan::dropUpdates(func::FuncOp function) {
  Operation *output = function.getBody().front().getTerminator();
  llvm::BitVector updates(function.getNumResults());
  for (unsigned index = 0; index < function.getNumResults(); ++index)
    updates[index] = static_cast<bool>(resultAttr<attr::Updates>(function, index));
  output->eraseOperands(updates);
  [[maybe_unused]] LogicalResult erased = function.eraseResults(updates);
  if (updates.any())
    // Backwards, so that the readers of an op are erased before it is asked whether it has any.
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(function.getBody().front())))
      if (isOpTriviallyDead(&op))
        op.erase();
}
