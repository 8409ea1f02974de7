//===- gradients.h - the backward pass of a function ------------*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_TRANSFORMS_DIFFERENTIATE_GRADIENTS_H
#define MESHPLAN_COMPILER_TRANSFORMS_DIFFERENTIATE_GRADIENTS_H

#include "dialect/plan/plan.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseSet.h"

namespace meshplan {

/// Makes the gradients of one value with respect to arguments of its function, behind all that the function computes.
class Gradients {
public:
  /// `loss` is a float with one element that a call of the function makes; `trained` are arguments.
  Gradients(mlir::func::FuncOp function, mlir::Value loss, llvm::ArrayRef<mlir::BlockArgument> trained);

  /// Where a gradient is zero everywhere, as that of a rounding, it is passed on as zeros, which tells what the loss
  /// depends on. Nothing is passed otherwise.
  void passZeros() { passesZeros = true; }

  /// Makes all calls. Fails with an error where an operator between has no derivative; at the first, or behind all the
  /// others that `goesOn` asks for.
  mlir::LogicalResult run(bool goesOn = false);

  /// The gradient of a trained argument, laid out as it is; null if the loss does not depend on it. Behind conversions
  /// that the plan places it has the type in which it was made, where the argument is narrower.
  mlir::Value of(mlir::BlockArgument argument) const { return made.lookup(argument); }

  /// Makes the gradient of a trained argument, which has none, zeros.
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
  bool passesStraight(plan::CallOp call) const;
  void pass(mlir::Operation *op);
  void keepAddends(mlir::Operation *last, llvm::ArrayRef<mlir::Value> gradients);
  void add(mlir::Value value, mlir::Value addend, plan::CallOp from);
  mlir::Value matched(mlir::Value value);

  mlir::func::FuncOp function;
  mlir::Value loss;
  mlir::OpBuilder place;
  bool passesZeros = false;
  llvm::DenseSet<mlir::Value> active;          ///< floats that depend on a trained argument
  llvm::DenseSet<mlir::Value> weightFunctions; ///< what is made of parameters, buffers and literals alone
  llvm::DenseMap<mlir::Value, mlir::Value> made;
};

} // namespace meshplan

#endif // MESHPLAN_COMPILER_TRANSFORMS_DIFFERENTIATE_GRADIENTS_H
