//===- routed_values.h - values that are routed to experts ------*- C++ -*-===//
//
// Which values of a function have rows for chosen pairs of expert and token
// only (#base.routed). `meshplan.route` makes the first ones, and a value is
// routed if its first dims are those of a routed operand. Whatever sums over
// experts or tokens ends it: the tokens that `meshplan.combine` gives, the
// gradients of weights.
//
// Example, with 8 experts, tokens [4, 16], 2 slots and 64 features:
//
//   %table, %counts = route(%indices)         [8, 4, 16] rows, [8, 4, 16] counts
//   %0 = dispatch(%x, %table)                 [8, 4, 16, 64] rows
//   %1 = grouped_linear(%0, %w, %counts)      [8, 4, 16, 32] rows
//   %2 = silu(%1)                             [8, 4, 16, 32] rows
//   %3 = combine(%2, %table)                  [4, 16, 32]
//
// That this holds for the numbers, and not only for the shapes, is up to what
// makes such calls: between dispatch and combine each row is computed from the
// row itself and the weights of its expert.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_COMPILER_SHARDING_DATAFLOW_ROUTED_VALUES_H
#define MESHPLAN_COMPILER_SHARDING_DATAFLOW_ROUTED_VALUES_H

#include "dialect/plan/plan.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"

namespace meshplan {

/// True for the kernels that make, compute and end routed values.
bool isRoutingCall(llvm::StringRef target);

/// How a value is routed, by its type; null if it is not, or before plan-store-routed has marked it.
base::RoutedAttr routedOf(mlir::Value value);

/// True for a reshard of routed values after which more axes divide the experts: they go to the ranks of their experts.
bool goesToExperts(plan::ReshardOp reshard);

/// True for the reverse: the values come back.
bool comesFromExperts(plan::ReshardOp reshard);

/// The routed values of one function. Values that are made later are found through reshards only.
class RoutedValues {
public:
  explicit RoutedValues(mlir::func::FuncOp function);

  /// How the value is routed; null if it is not.
  base::RoutedAttr get(mlir::Value value) const;

  /// True if there is none.
  bool empty() const { return known.empty(); }

private:
  void visit(plan::CallOp call);

  llvm::DenseMap<mlir::Value, base::RoutedAttr> known;
};

} // namespace meshplan

#endif // MESHPLAN_COMPILER_SHARDING_DATAFLOW_ROUTED_VALUES_H
