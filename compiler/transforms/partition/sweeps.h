//===- sweeps.h - sweeps over the microbatches of a step --------*- C++ -*-===//
//
// A step in microbatches computes a sum over the whole batch by running a
// program for each microbatch: a sweep. A sum that depends on another such sum
// needs a later sweep, because the first one must be complete.
//
// Example: the mean loss over all tokens of a batch. The number of tokens is a
// sum, which the loss of every microbatch divides by:
//
//   sum                  sweep
//   number of tokens     0
//   loss, gradients      1
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_COMPILER_TRANSFORMS_PARTITION_SWEEPS_H
#define MESHPLAN_COMPILER_TRANSFORMS_PARTITION_SWEEPS_H

#include "dialect/plan/plan.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace meshplan {

/// True for a sum (or maximum or minimum) over all microbatches.
bool isOverMicrobatches(mlir::Operation *op);

/// Assigns each sum over the microbatches to a sweep: the latest one that its readers allow, so that a sweep computes
/// only what later sweeps need.
class Sweeps {
public:
  struct Sum {
    plan::AllReduceOp op;
    int64_t sweep;
  };

  explicit Sweeps(mlir::func::FuncOp function);

  /// In the order of the program.
  llvm::ArrayRef<Sum> getSums() const { return sums; }
  /// Number of the last sweep; the first is 0.
  int64_t getLast() const { return last; }

private:
  llvm::SmallVector<Sum> sums;
  int64_t last;
};

} // namespace meshplan

#endif // MESHPLAN_COMPILER_TRANSFORMS_PARTITION_SWEEPS_H
