//===- gradients.h - the backward pass of a function ------------*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_TRANSFORMS_DIFFERENTIATE_GRADIENTS_H
#define MESHPLAN_COMPILER_TRANSFORMS_DIFFERENTIATE_GRADIENTS_H

#include "dialect/plan/plan.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseSet.h"

namespace meshplan {

/// Computes the gradients of a value with respect to arguments of its function, after everything that the function
/// computes.
class Gradients {
public:
  /// `loss` is a float with one element that a call of the function computes; `trained` are arguments.
  Gradients(mlir::func::FuncOp function, mlir::Value loss, llvm::ArrayRef<mlir::BlockArgument> trained);

  /// Where a gradient is zero everywhere, as that of a rounding, propagate zeros. This shows what the loss depends on.
  /// Without it nothing is propagated there.
  void keepZeros() { keepsZeros = true; }

  /// Creates all calls. Fails with an error where an operator on the path has no derivative: at the first one, or with
  /// `continues` after all others.
  mlir::LogicalResult run(bool continues = false);

  /// The gradient of a trained argument, in the layout of the argument; null if the loss does not depend on it. After
  /// conversions that the plan inserted it keeps the type in which it was computed if the argument is narrower.
  mlir::Value of(mlir::BlockArgument argument) const { return made.lookup(argument); }

  /// Gives zeros to a trained argument that has no gradient.
  void giveZeros(mlir::BlockArgument argument);

private:
  void findActive(llvm::ArrayRef<mlir::BlockArgument> trained);
  void seed();
  void findWeightFunctions();
  bool isKnownFunctionOfParameters(plan::CallOp call) const;
  mlir::Value zerosLike(mlir::Value value, plan::CallOp from);
  mlir::LogicalResult visit(plan::CallOp call);
  mlir::LogicalResult derive(plan::CallOp call, llvm::ArrayRef<mlir::Value> gradients);
  void visit(plan::ConstrainOp constrain);
  bool isIdentity(plan::CallOp call) const;
  void propagate(mlir::Operation *op);
  void keepAddends(mlir::Operation *last, llvm::ArrayRef<mlir::Value> gradients);
  void add(mlir::Value value, mlir::Value addend, plan::CallOp from);
  mlir::Value matched(mlir::Value value);

  mlir::func::FuncOp function;
  mlir::Value loss;
  mlir::OpBuilder insertion;
  bool keepsZeros = false;
  llvm::DenseSet<mlir::Value> active;          ///< floats that depend on a trained argument
  llvm::DenseSet<mlir::Value> weightFunctions; ///< values computed from parameters, buffers and literals alone
  llvm::DenseMap<mlir::Value, mlir::Value> made;
};

} // namespace meshplan

#endif // MESHPLAN_COMPILER_TRANSFORMS_DIFFERENTIATE_GRADIENTS_H
