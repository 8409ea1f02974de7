//===- instances.cpp - what every microbatch runs -------------------------===//

#include "compiler/transforms/schedule/instances.h"
#include "dialect/plan/attributes.h"
#include "dialect/plan/programs.h"

using namespace mlir;

namespace meshplan {

/// The buffers that hold the next values of accumulators.
static llvm::BitVector nextAccumulators(func::FuncOp function, const ProjectedFunction &projection) {
  DenseSet<Value> next;
  for (auto [index, value] : llvm::enumerate(function.getBody().front().getTerminator()->getOperands()))
    if (auto updated = plan::resultAttr<plan::attr::Updates>(function, index);
        updated && updated.getKind() == plan::ArgumentKind::accumulator)
      next.insert(value);
  llvm::BitVector buffers(projection.buffers.size());
  for (auto [index, value] : llvm::enumerate(projection.buffers))
    if (value && next.contains(value))
      buffers.set(index);
  return buffers;
}

llvm::BitVector operationsOfEveryInstance(func::FuncOp function, const ProjectedFunction &projection) {
  const std::vector<scheduling::Operation> &operations = projection.problem.operations;
  if (plan::roleOf(function) == base::ProgramRole::microbatch || plan::instancesOf(function) == 1)
    return llvm::BitVector(operations.size(), true);
  llvm::BitVector every(operations.size()), needed = nextAccumulators(function, projection);
  // Backwards: operations come after what they depend on.
  for (size_t index = operations.size(); index-- > 0;) {
    if (llvm::none_of(operations[index].produced, [&](unsigned buffer) { return needed[buffer]; }))
      continue;
    every.set(index);
    for (unsigned buffer : operations[index].consumed)
      needed.set(buffer);
  }
  return every;
}

} // namespace meshplan
