//===- argument_table.h - references to arguments by name -------*- C++ -*-===//
//
// An attribute that is about an argument of its function refers to it by kind
// and name (`#plan.argument`). A pass that adds or erases other arguments need
// not change the attribute. The verifier has checked that there is exactly one
// such argument.
//
// Example: parameter "w" with a state of the optimizer, and the function that
// returns their new contents:
//
//   func.func @step(
//       %w: !t {plan.kind = #plan.kind<parameter>, plan.names = ["w"]},
//       %m: !t {plan.kind = #plan.kind<state>, plan.names = ["w.momentum_buffer"],
//               plan.of = #plan.argument<parameter "w">})
//       -> (!t {plan.updates = #plan.argument<parameter "w">},
//           !t {plan.updates = #plan.argument<state "w.momentum_buffer">})
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_DIALECT_PLAN_ARGUMENT_TABLE_H
#define MESHPLAN_DIALECT_PLAN_ARGUMENT_TABLE_H

#include "dialect/plan/plan.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

namespace meshplan::plan {

/// The reference to an argument, or null if it has no kind or no name.
ArgumentRefAttr referenceTo(mlir::FunctionOpInterface function, unsigned index);
ArgumentRefAttr referenceTo(mlir::BlockArgument argument);

/// Checks that arguments of one kind have different names, that every reference of the arguments, results and calls of
/// a function is the kind and first name of an argument, and that `plan.data` and `plan.group` are positions of
/// statements.
mlir::LogicalResult verifyReferences(mlir::FunctionOpInterface function);

/// The arguments of a function by reference, without those that are added after the table. Arguments that are erased
/// must not be asked for.
class ArgumentTable {
public:
  explicit ArgumentTable(mlir::FunctionOpInterface function);

  /// The argument; null for a null reference.
  mlir::BlockArgument operator[](ArgumentRefAttr reference) const;

  /// The parameter of a state, and any other argument itself; null for null.
  mlir::BlockArgument parameterOf(mlir::BlockArgument argument) const;

private:
  llvm::DenseMap<std::pair<ArgumentKind, mlir::StringAttr>, mlir::BlockArgument> arguments;
};

} // namespace meshplan::plan

#endif // MESHPLAN_DIALECT_PLAN_ARGUMENT_TABLE_H
