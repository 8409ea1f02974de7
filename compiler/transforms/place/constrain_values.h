//===- constrain_values.h - layouts that a style gives to values *- C++ -*-===//

#ifndef MESHPLAN_COMPILER_TRANSFORMS_PLACE_CONSTRAIN_VALUES_H
#define MESHPLAN_COMPILER_TRANSFORMS_PLACE_CONSTRAIN_VALUES_H

#include "dialect/plan/plan.h"
#include "llvm/ADT/SmallPtrSet.h"

namespace meshplan {

/// Constrains the value that one operator of a module reads.
void constrainOperand(mlir::OpOperand &operand, plan::ShardingAttr layout, plan::StyleOp style);

/// Constrains the value that a module returns to operators outside. `inside` are the calls of the module.
void constrainResult(mlir::Value result, const llvm::SmallPtrSetImpl<mlir::Operation *> &inside,
                     plan::ShardingAttr layout, plan::StyleOp style);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_TRANSFORMS_PLACE_CONSTRAIN_VALUES_H
