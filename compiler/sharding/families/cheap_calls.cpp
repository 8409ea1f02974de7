//===- cheap_calls.cpp - calls that are recomputed instead of held --------===//

#include "compiler/sharding/families/cheap_calls.h"
#include "compiler/sharding/families/random_ops.h"

using namespace meshplan;

/// Strides of a dense tensor whose first dim is innermost: row-major with the dims reversed.
static Strides reversedStrides(llvm::ArrayRef<int64_t> shape) {
  Strides strides;
  int64_t stride = 1;
  for (int64_t size : shape) {
    strides.push_back(stride);
    stride *= size;
  }
  return strides;
}

static bool aliasesRows(const CallView &call, const OpRecord &record) {
  CallView rows = call;
  rows.strides.clear(); // row-major
  return costOf(rows, &record).aliases;
}

static bool aliasesColumns(const CallView &call, const OpRecord &record) {
  CallView columns = call;
  columns.strides.clear();
  for (mlir::RankedTensorType operand : call.operands)
    columns.strides.push_back(reversedStrides(operand.getShape()));
  return costOf(columns, &record).aliases;
}

bool meshplan::isView(const CallView &call) {
  const OpRecord *record = OpRegistry::get().lookup(call.target);
  return record && !call.operands.empty() && aliasesRows(call, *record) && aliasesColumns(call, *record);
}

bool meshplan::isCheapToRecompute(const CallView &call) {
  const OpRecord *record = OpRegistry::get().lookup(call.target);
  if (!record || !record->overwrites.empty() || record->roundsAddends || drawsRandomNumbers(call))
    return false;
  // A call that is a view of row-major operands makes at most one copy of others.
  return record->isCheap || (record->isPointwise && !record->sumsElements) || aliasesRows(call, *record);
}
