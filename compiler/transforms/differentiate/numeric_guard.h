//===- numeric_guard.h - steps with non-finite gradients --------*- C++ -*-===//
//
// How a step reacts to non-finite gradients, and how 16-bit gradients are kept
// from underflow: like torch.amp.GradScaler, but within the step, so that all
// ranks decide alike.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_COMPILER_TRANSFORMS_DIFFERENTIATE_NUMERIC_GUARD_H
#define MESHPLAN_COMPILER_TRANSFORMS_DIFFERENTIATE_NUMERIC_GUARD_H

#include "compiler/transforms/differentiate/divided_sum.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace meshplan {

class NumericGuard {
public:
  /// `precision` is null if the plan has no such statement.
  NumericGuard(mlir::func::FuncOp step, plan::OptimizerOp optimizer, plan::PrecisionOp precision,
               mlir::OpBuilder &builder);

  /// True if a step with non-finite gradients changes nothing.
  bool skips() { return bool(optimizer.getNonfiniteAttr()); }

  /// Multiplies the gradient of the loss (`plan.loss_gradient`) by the scale, if the plan has one.
  void scaleLoss();

  /// The addend, passed through a call in which a rank records non-finite elements under the parameter's name.
  mlir::Value noted(mlir::Value addend, mlir::BlockArgument parameter);

  /// Counts the non-finite elements of a gradient that is divided over `axes`.
  void count(mlir::Value gradient, llvm::ArrayRef<plan::AxisRefAttr> axes);

  /// The number of non-finite elements of all gradients, [] i64, which becomes an output of the step; null if the plan
  /// does not need it. Call after all calls of `count`.
  mlir::Value total();

  /// The factor by which gradients are scaled, [] f64, or null.
  mlir::Value scale() const { return scaleSetting; }

private:
  base::GuardAttr action();

  mlir::func::FuncOp step;
  plan::OptimizerOp optimizer;
  plan::PrecisionOp precision;
  mlir::OpBuilder &builder;
  DividedSum counts;
  mlir::Value scaleSetting;
};

} // namespace meshplan

#endif // MESHPLAN_COMPILER_TRANSFORMS_DIFFERENTIATE_NUMERIC_GUARD_H
