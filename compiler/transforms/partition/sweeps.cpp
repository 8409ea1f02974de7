//===- sweeps.cpp - sweeps over the microbatches of a step ----------------===//

#include "compiler/transforms/partition/sweeps.h"

using namespace mlir;
using namespace meshplan;
using namespace meshplan::plan;

bool meshplan::isOverMicrobatches(Operation *op) {
  auto reduce = dyn_cast<AllReduceOp>(op);
  return reduce && llvm::any_of(reduce.getAxes().getAsRange<AxisRefAttr>(), isTime);
}

/// The number of the last sweep: a sum that depends on another sum needs one more.
static int64_t findLast(Block &body) {
  int64_t last = 0;
  DenseMap<Value, int64_t> complete; // sweeps after which a value is known
  for (Operation &op : body) {
    int64_t count = 0;
    for (Value operand : op.getOperands())
      count = std::max(count, complete.lookup(operand));
    if (isOverMicrobatches(&op))
      last = std::max(last, count++);
    for (Value result : op.getResults())
      complete[result] = count;
  }
  return last;
}

Sweeps::Sweeps(func::FuncOp function) : last(findLast(function.getBody().front())) {
  // The first sweep that needs the result of an op; after the last sweep for ops that only the end of the step reads.
  DenseMap<Operation *, int64_t> neededBy;
  for (Operation &op : llvm::reverse(function.getBody().front())) {
    // Backwards from the readers: the latest sweep that is still early enough. A sum itself must be complete one sweep
    // before its first reader.
    int64_t sweep = last + 1;
    for (Operation *user : op.getUsers())
      if (auto found = neededBy.find(user); found != neededBy.end())
        sweep = std::min(sweep, found->second);
    if (isOverMicrobatches(&op))
      sums.push_back({cast<AllReduceOp>(op), --sweep});
    neededBy[&op] = sweep;
  }
  std::reverse(sums.begin(), sums.end());
}
