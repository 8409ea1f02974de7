//===- numeric_guard.h - steps whose gradients are no numbers ---*- C++ -*-===//
//
// What a plan wants where gradients are NaN or infinite, and how it keeps those
// of 16 bits from vanishing: as torch.amp.GradScaler, but within the step, so
// that every rank decides alike.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_COMPILER_TRANSFORMS_DIFFERENTIATE_NUMERIC_GUARD_H
#define MESHPLAN_COMPILER_TRANSFORMS_DIFFERENTIATE_NUMERIC_GUARD_H

#include "compiler/transforms/differentiate/divided_sum.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace meshplan {

class NumericGuard {
public:
  /// `precision` is null where the plan says nothing of it.
  NumericGuard(mlir::func::FuncOp step, plan::OptimizerOp optimizer, plan::PrecisionOp precision,
               mlir::OpBuilder &builder);

  /// True if a step whose gradients are no numbers changes nothing.
  bool skips() { return bool(optimizer.getNonfiniteAttr()); }

  /// Makes the loss's own gradient (`plan.loss_gradient`) that of the loss times the scale, if the plan has one.
  void scaleLoss();

  /// The same addend, of which a rank notes under the parameter's name what is no number.
  mlir::Value noted(mlir::Value addend, mlir::BlockArgument parameter);

  /// Counts what is no number in a gradient that is divided over `axes`.
  void count(mlir::Value gradient, llvm::ArrayRef<plan::AxisRefAttr> axes);

  /// How many elements of all gradients are no numbers, [] i64, which becomes an output of the step; null if nobody
  /// asks. Behind all calls of `count`.
  mlir::Value total();

  /// The factor by which gradients are too large, [] f64, or null.
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
