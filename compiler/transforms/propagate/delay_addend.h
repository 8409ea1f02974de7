//===- delay_addend.h - gradients are added up before ranks do --*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_TRANSFORMS_PROPAGATE_DELAY_ADDEND_H
#define MESHPLAN_COMPILER_TRANSFORMS_PROPAGATE_DELAY_ADDEND_H

#include "dialect/plan/plan.h"

namespace meshplan {

/// Of a value that several calls read the gradient is a chain of sums. Where `sum` is one of them, and only one of what
/// it adds is partial over ranks, it would take a collective, and another partial gradient further on one more. Then
/// the chain is put in another order: `sum` adds that other gradient, stands where that is made, and what is not
/// partial is added behind. A gradient of which `shardingOf` says nothing yet may be partial. True if something was
/// moved.
bool delayWholeAddend(plan::CallOp sum, llvm::function_ref<plan::ShardingAttr(mlir::Value)> shardingOf);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_TRANSFORMS_PROPAGATE_DELAY_ADDEND_H
