//===- constrain_values.h - layouts that styles give to values --*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_TRANSFORMS_PLACE_CONSTRAIN_VALUES_H
#define MESHPLAN_COMPILER_TRANSFORMS_PLACE_CONSTRAIN_VALUES_H

#include "compiler/sharding/blocks/dim_blocks.h"
#include "dialect/plan/plan.h"
#include "llvm/ADT/SmallPtrSet.h"

namespace meshplan {

/// Constrains the value that one operator of a module reads.
void constrainOperand(mlir::OpOperand &operand, plan::ShardingAttr layout, plan::StyleOp style);

/// Constrains the value that a module returns to operators outside. `inside` are the calls of the module.
void constrainResult(mlir::Value result, const llvm::SmallPtrSetImpl<mlir::Operation *> &inside,
                     plan::ShardingAttr layout, plan::StyleOp style);

/// Divides the style's dim of the values that enter and leave a module with these calls. Reports nothing if
/// `isFirstReport` returns false, because the statement has been reported before.
mlir::LogicalResult placeSequence(plan::StyleOp style, llvm::ArrayRef<plan::CallOp> calls, plan::MeshOp mesh,
                                  DimBlocks &blocks, llvm::function_ref<bool()> isFirstReport);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_TRANSFORMS_PLACE_CONSTRAIN_VALUES_H
