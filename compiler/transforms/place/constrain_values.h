//===- constrain_values.h - what a style says of values --------*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_TRANSFORMS_PLACE_CONSTRAIN_VALUES_H
#define MESHPLAN_COMPILER_TRANSFORMS_PLACE_CONSTRAIN_VALUES_H

#include "dialect/plan/plan.h"
#include "llvm/ADT/SmallPtrSet.h"

namespace meshplan {

/// What one operator of a module reads has this layout.
void constrainOperand(mlir::OpOperand &operand, plan::ShardingAttr layout, plan::StyleOp style);

/// What a module gives to operators outside has this layout; `inside` are its calls.
void constrainResult(mlir::Value result, const llvm::SmallPtrSetImpl<mlir::Operation *> &inside,
                     plan::ShardingAttr layout, plan::StyleOp style);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_TRANSFORMS_PLACE_CONSTRAIN_VALUES_H
