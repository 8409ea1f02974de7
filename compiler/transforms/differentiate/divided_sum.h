//===- divided_sum.h - one number of all gradients --------------*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_TRANSFORMS_DIFFERENTIATE_DIVIDED_SUM_H
#define MESHPLAN_COMPILER_TRANSFORMS_DIFFERENTIATE_DIVIDED_SUM_H

#include "compiler/sharding/axes.h"
#include "dialect/plan/step_call.h"
#include "llvm/ADT/MapVector.h"

namespace meshplan {

/// Adds up numbers that ranks have of tensors divided in several ways: those of one division first, each of which is
/// then reduced once.
class DividedSum {
public:
  DividedSum(mlir::OpBuilder &builder, mlir::Location location) : builder(builder), location(location) {}

  /// A number [] of a tensor divided over `axes`. All are of one type.
  void add(llvm::ArrayRef<plan::AxisRefAttr> axes, mlir::Value number);

  /// The sum of all, of which there is one at least.
  mlir::Value total();

private:
  mlir::Value sumOf(mlir::Value left, mlir::Value right);

  mlir::OpBuilder &builder;
  mlir::Location location;
  llvm::MapVector<mlir::Attribute, mlir::Value> sums;
};

} // namespace meshplan

#endif // MESHPLAN_COMPILER_TRANSFORMS_DIFFERENTIATE_DIVIDED_SUM_H
