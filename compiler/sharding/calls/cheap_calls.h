//===- cheap_calls.h - which calls are made again, not held -----*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_SHARDING_CALLS_CHEAP_CALLS_H
#define MESHPLAN_COMPILER_SHARDING_CALLS_CHEAP_CALLS_H

#include "compiler/sharding/op_record.h"

namespace meshplan {

/// True if the call takes a few passes over its operands and gives the same bits each time: it moves elements without
/// a choice among them, is pointwise, or its record says that it is cheap (`OpRecord::isCheap`). Where its operands are
/// at hand it costs less to make its results again than to hold them.
/// Source: the operators that PyTorch's min-cut partitioner recomputes (torch/_functorch/partitioners.py), without
/// reductions. Pure and thread safe.
bool isCheapToRepeat(const CallView &call);

/// True if the results are views of the first operand, however that lies in memory.
bool isView(const CallView &call);

/// A copy of `op` in front of `reader`, on other operands. `made` gets its results by those of `op`.
mlir::Operation *repeatBefore(mlir::Operation *reader, mlir::Operation *op, mlir::ValueRange operands,
                              llvm::DenseMap<mlir::Value, mlir::Value> &made);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_SHARDING_CALLS_CHEAP_CALLS_H
