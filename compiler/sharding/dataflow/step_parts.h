//===- step_parts.h - what the operations of a step are for -----*- C++ -*-===//
//
// A training step is one list of operations. These queries say which part of the step an operation belongs to, and what
// a collective moves, for reports, traces and the contracts of a plan.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_COMPILER_SHARDING_DATAFLOW_STEP_PARTS_H
#define MESHPLAN_COMPILER_SHARDING_DATAFLOW_STEP_PARTS_H

#include "dialect/plan/argument_table.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"

namespace meshplan {

/// The parts of one function after `partition`. Computed once; the function must not change while it is in use.
class StepParts {
public:
  explicit StepParts(mlir::func::FuncOp function);

  /// The part that an op of the function belongs to. Collectives and copies of gradients are of the backward pass;
  /// what is computed from whole gradients is of the update.
  base::Direction directionOf(mlir::Operation *op) const { return directions.lookup(op); }

  /// What a collective of the function moves.
  base::Purpose purposeOf(mlir::Operation *op) const;

  /// The module whose tensors the collectives of one operation move: that of the parameters for parameters and
  /// gradients, else that of the op that computes the first input. Of several modules, the innermost that has all of
  /// them. Empty for the root module.
  std::string subjectOf(llvm::ArrayRef<mlir::Operation *> ops) const;

private:
  void findPurposes();
  void findDirections();
  void addReaders(plan::CallOp call);
  /// The parameter whose memory, or whose state's memory, a call changes; null for other calls.
  mlir::BlockArgument changedBy(plan::CallOp call, llvm::StringRef operand) const;
  /// Marks the collectives between `value` and what computes it, through carriers.
  void addSources(mlir::Value value, mlir::BlockArgument parameter, base::Purpose purpose);

  /// What is known about a collective of parameters or gradients.
  struct Moved {
    base::Purpose purpose;
    mlir::BlockArgument parameter; ///< null if it is not known
  };

  mlir::func::FuncOp function;
  plan::ArgumentTable arguments;
  llvm::DenseMap<mlir::Operation *, Moved> moved;
  llvm::DenseMap<mlir::Operation *, base::Direction> directions;
};

} // namespace meshplan

#endif // MESHPLAN_COMPILER_SHARDING_DATAFLOW_STEP_PARTS_H
