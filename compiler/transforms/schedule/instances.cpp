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

/// The operations on which the next values of accumulators depend.
static llvm::BitVector operationsForAccumulators(func::FuncOp function, const ProjectedFunction &projection) {
  const std::vector<scheduling::Operation> &operations = projection.problem.operations;
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

/// True for what a step gathers once for all instances, and for the copies out of what it receives.
static bool gathersOnce(ArrayRef<Operation *> ops, const scheduling::Operation &operation) {
  return operation.copy != scheduling::Copy::pack &&
         llvm::all_of(ops, [](Operation *op) { return plan::opAttr<plan::attr::Once>(op) != nullptr; });
}

scheduling::OccurrenceTable occurrencesIn(func::FuncOp function, const ProjectedFunction &projection) {
  const std::vector<scheduling::Operation> &operations = projection.problem.operations;
  scheduling::OccurrenceTable table{llvm::BitVector(operations.size()), llvm::BitVector(operations.size(), true)};
  if (plan::roleOf(function) == base::ProgramRole::microbatch || plan::instancesOf(function) == 1)
    return table;
  table.every = operationsForAccumulators(function, projection);
  // By buffer: an operation of the first instance reads it; another one does.
  llvm::BitVector isForFirst(projection.problem.buffers.size()), isForOthers(projection.problem.buffers.size());
  for (size_t index = operations.size(); index-- > 0;) {
    const scheduling::Operation &operation = operations[index];
    bool hasReaders = llvm::any_of(operation.produced, [&](unsigned buffer) { return isForFirst[buffer]; });
    bool isForOthersToo = llvm::any_of(operation.produced, [&](unsigned buffer) { return isForOthers[buffer]; });
    if (gathersOnce(projection.operations[index], operation) || (hasReaders && !isForOthersToo))
      table.first.set(index);
    llvm::BitVector &readers = table.first[index] ? isForFirst : isForOthers;
    for (unsigned buffer : operation.consumed)
      readers.set(buffer);
  }
  table.every.reset(table.first);
  return table;
}

} // namespace meshplan
