//===- border_help.h - borders at which a layout can be stated --*- C++ -*-===//
//
// Finds the statement that gives a value another layout where an operator
// reads it. A plan can state a layout where the value leaves the module that
// computes it, or enters the module that reads it. Pure queries of the program.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_COMPILER_TRANSFORMS_PROPAGATE_BORDER_HELP_H
#define MESHPLAN_COMPILER_TRANSFORMS_PROPAGATE_BORDER_HELP_H

#include "dialect/plan/plan.h"
#include "llvm/ADT/DenseMap.h"
#include <string>

namespace meshplan {

/// The layouts that the plan has stated, by value. Propagation removes the statements as it obeys them, and a statement
/// at the output of the module that computes a value precedes all others about this value.
class StatedLayouts {
public:
  void add(plan::ConstrainOp constrain);
  bool isStated(mlir::Value origin) const { return modules.contains(origin); }
  /// True if the plan states the layout of this value as an input of `module`.
  bool isInput(mlir::Value origin, llvm::StringRef module) const;

private:
  llvm::DenseMap<mlir::Value, llvm::SmallVector<mlir::StringAttr, 2>> modules;
};

/// A statement that gives the operand this layout before the call reads it: "mlp: output [_, _]". Empty if the value
/// crosses no border without a statement, or if the layout has no syntax in a plan.
std::string atBorder(mlir::OpOperand &operand, plan::ShardingAttr layout, const StatedLayouts &statements);

/// The same with every dim whole.
std::string wholeAtBorder(mlir::OpOperand &operand, const StatedLayouts &statements);

/// The same with one dim whole and the others unchanged.
std::string wholeAtBorder(mlir::OpOperand &operand, unsigned dim, const StatedLayouts &statements);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_TRANSFORMS_PROPAGATE_BORDER_HELP_H
