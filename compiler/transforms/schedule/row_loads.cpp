//===- row_loads.cpp - memory by the rows of experts ----------------------===//

#include "compiler/transforms/schedule/row_loads.h"
#include "compiler/sharding/dataflow/routed_values.h"

using namespace mlir;
using namespace meshplan;

static bool isRouted(Value value) { return routedOf(value) != nullptr; }

bool meshplan::hasAnyRows(func::FuncOp function, LayoutTable &worst) {
  if (plan::roleOf(function) == base::ProgramRole::reference)
    return false;
  return function
      .walk([&](Operation *op) {
        for (Value result : op->getResults())
          if (isRouted(result)) {
            const ResolvedLayout &layout = worst.get(result.getType());
            if (sched::localBytes(layout.type, worst.axisSizes(), worst.coordinate(0)) != layout.bytes.front())
              return WalkResult::interrupt();
          }
        return WalkResult::advance();
      })
      .wasInterrupted();
}

FailureOr<ProjectedFunction> meshplan::withLoad(func::FuncOp function, const ProjectedFunction &projection,
                                                const Cluster &cluster, LayoutTable &layouts,
                                                CommunicatorTable &communicators) {
  FailureOr<ProjectedFunction> loaded = project(function, cluster, layouts, communicators);
  if (failed(loaded))
    return failure();
  // Merged and split operations have no routed tensors, and so no other bytes.
  llvm::DenseMap<Value, unsigned> buffers;
  for (auto [index, value] : llvm::enumerate(loaded->buffers))
    if (value)
      buffers[value] = index;
  llvm::DenseMap<Operation *, unsigned> operations;
  for (auto [index, ops] : llvm::enumerate(loaded->operations))
    if (ops.size() == 1 && loaded->problem.operations[index].copy == scheduling::Copy::none)
      operations[ops.front()] = index;
  ProjectedFunction result = projection;
  for (auto [buffer, value] : llvm::zip_equal(result.problem.buffers, result.buffers))
    if (value && isRouted(value))
      buffer.bytes = loaded->problem.buffers[buffers.at(value)].bytes;
  for (auto [index, operation] : llvm::enumerate(result.problem.operations)) {
    ArrayRef<Operation *> ops = result.operations[index];
    bool isWhole = ops.size() == 1 && operation.copy == scheduling::Copy::none && !result.partOf(index);
    if (isWhole &&
        (llvm::any_of(ops.front()->getOperands(), isRouted) || llvm::any_of(ops.front()->getResults(), isRouted)))
      operation.workspace = loaded->problem.operations[operations.at(ops.front())].workspace;
  }
  return result;
}

sched::MemoryAttr meshplan::withLoads(sched::MemoryAttr memory, LoadPeaks peaks) {
  return sched::MemoryAttr::get(memory.getContext(), memory.getParameters(), memory.getConstants(), memory.getInputs(),
                                memory.getPeak(), memory.getLeast(), memory.getStates(), memory.getAccumulators(),
                                memory.getHostParameters(), memory.getHostStates(), memory.getHostPeak(),
                                memory.getEvaluation(), memory.getLeastEvaluation(), peaks.balanced, peaks.worst);
}
