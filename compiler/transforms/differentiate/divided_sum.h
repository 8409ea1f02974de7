//===- divided_sum.h - sum over differently divided tensors -----*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_TRANSFORMS_DIFFERENTIATE_DIVIDED_SUM_H
#define MESHPLAN_COMPILER_TRANSFORMS_DIFFERENTIATE_DIVIDED_SUM_H

#include "compiler/sharding/axes.h"
#include "dialect/plan/step_call.h"
#include "llvm/ADT/MapVector.h"

namespace meshplan {

/// Sums numbers that ranks have computed from tensors divided in different ways. Numbers of one division are summed
/// first, so that each division needs a single collective.
class DividedSum {
public:
  DividedSum(mlir::OpBuilder &builder, mlir::Location location) : builder(builder), location(location) {}

  /// Adds a rank-0 number computed from a tensor that is divided over `axes`. All numbers have the same type.
  void add(llvm::ArrayRef<plan::AxisRefAttr> axes, mlir::Value number);

  /// The sum of all numbers, of which there must be at least one.
  mlir::Value total();

private:
  mlir::Value sumOf(mlir::Value left, mlir::Value right);

  mlir::OpBuilder &builder;
  mlir::Location location;
  llvm::MapVector<mlir::Attribute, mlir::Value> sums;
};

} // namespace meshplan

#endif // MESHPLAN_COMPILER_TRANSFORMS_DIFFERENTIATE_DIVIDED_SUM_H
