//===- split_addend.h - a bias is added once --------------------*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_TRANSFORMS_PROPAGATE_SPLIT_ADDEND_H
#define MESHPLAN_COMPILER_TRANSFORMS_PROPAGATE_SPLIT_ADDEND_H

#include "compiler/transforms/propagate/decide_call.h"

namespace meshplan {

/// Splits off an operand that `call` merely adds (a bias), if the rest of it yields addends under `decision`: every
/// rank would add it otherwise. The addition stands behind the call. True if there was one; the call is then another.
bool splitAddend(plan::CallOp call, const OpRecord &record, const FactorRule &rule, const CallDecision &decision);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_TRANSFORMS_PROPAGATE_SPLIT_ADDEND_H
