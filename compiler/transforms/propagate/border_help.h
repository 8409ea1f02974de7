//===- border_help.h - the border at which a value can be laid out -*- C++ -*-===//
//
// What a plan can say so that a value has another layout where an operator reads
// it. A layout can be stated where the value leaves the module that makes it, or
// enters the one that reads it. Pure questions of the program.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_COMPILER_TRANSFORMS_PROPAGATE_BORDER_HELP_H
#define MESHPLAN_COMPILER_TRANSFORMS_PROPAGATE_BORDER_HELP_H

#include "dialect/plan/plan.h"
#include "llvm/ADT/DenseMap.h"
#include <string>

namespace meshplan {

/// What the plan states of layouts, by the value that it states them of. Propagation removes the statements as it obeys
/// them, and what is stated behind the module that makes a value comes after anything that is said of its output.
class StatedLayouts {
public:
  void add(plan::ConstrainOp constrain);
  bool isStated(mlir::Value origin) const { return modules.contains(origin); }
  /// True if the plan states it as an input of this module.
  bool isInput(mlir::Value origin, llvm::StringRef module) const;

private:
  llvm::DenseMap<mlir::Value, llvm::SmallVector<mlir::StringAttr, 2>> modules;
};

/// A statement that gives the operand this layout before the call reads it: "mlp: output [_, _]". Empty if the value
/// crosses no border at which nothing is stated yet, or a plan cannot write the layout.
std::string atBorder(mlir::OpOperand &operand, plan::ShardingAttr layout, const StatedLayouts &statements);

/// The same with every dim whole.
std::string wholeAtBorder(mlir::OpOperand &operand, const StatedLayouts &statements);

/// The same with one dim whole; the others stay as they are.
std::string wholeAtBorder(mlir::OpOperand &operand, unsigned dim, const StatedLayouts &statements);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_TRANSFORMS_PROPAGATE_BORDER_HELP_H
