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
#include <string>

namespace meshplan {

/// A statement that gives the operand this layout before the call reads it: "mlp: output [_, _]". Empty if the value
/// crosses no border, or a plan cannot write the layout.
std::string atBorder(mlir::OpOperand &operand, plan::ShardingAttr layout);

/// The same with every dim whole.
std::string wholeAtBorder(mlir::OpOperand &operand);

/// The same with one dim whole; the others stay as they are.
std::string wholeAtBorder(mlir::OpOperand &operand, unsigned dim);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_TRANSFORMS_PROPAGATE_BORDER_HELP_H
