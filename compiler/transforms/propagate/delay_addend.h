//===- delay_addend.h - sums gradients before their collective --*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_TRANSFORMS_PROPAGATE_DELAY_ADDEND_H
#define MESHPLAN_COMPILER_TRANSFORMS_PROPAGATE_DELAY_ADDEND_H

#include "dialect/plan/plan.h"

namespace meshplan {

/// The gradient of a value with several readers is a chain of sums. If only one operand of `sum` is partial over ranks,
/// it would need a collective, and a partial gradient later in the chain another one. So the chain is reordered: `sum`
/// adds that later gradient instead and moves to where it is defined; the operand that is not partial is added
/// afterwards. For example, with partial p and q and replicated r, (p + r) + q becomes (p + q) + r: one collective. A
/// gradient for which `shardingOf` returns null may still become partial. Returns true if something was moved.
bool delayWholeAddend(plan::CallOp sum, llvm::function_ref<plan::ShardingAttr(mlir::Value)> shardingOf);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_TRANSFORMS_PROPAGATE_DELAY_ADDEND_H
