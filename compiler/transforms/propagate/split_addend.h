//===- split_addend.h - adds a bias once ------------------------*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_TRANSFORMS_PROPAGATE_SPLIT_ADDEND_H
#define MESHPLAN_COMPILER_TRANSFORMS_PROPAGATE_SPLIT_ADDEND_H

#include "compiler/transforms/propagate/decide_call.h"

namespace meshplan {

/// Splits off an operand that `call` merely adds (a bias), if the rest of the call becomes partial under `decision`:
/// otherwise every rank would add it. The addition is inserted after the call. Returns true if there was such an
/// operand; the call is then a different one.
bool splitAddend(plan::CallOp call, const OpRecord &record, const FactorRule &rule, const CallDecision &decision);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_TRANSFORMS_PROPAGATE_SPLIT_ADDEND_H
