//===- split_sums.h - sums that a decision makes partial --------*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_TRANSFORMS_PROPAGATE_SPLIT_SUMS_H
#define MESHPLAN_COMPILER_TRANSFORMS_PROPAGATE_SPLIT_SUMS_H

#include "compiler/transforms/propagate/decide_call.h"

namespace meshplan {

/// Splits off an operand that `call` merely adds (a bias), if the rest of the call becomes partial under `decision`:
/// otherwise every rank would add it. The addition is inserted after the call. Returns true if there was such an
/// operand; the call is then a different one.
bool splitAddend(plan::CallOp call, const OpRecord &record, const FactorRule &rule, const CallDecision &decision);

/// Applies where a decision gives a rank blocks of a result that its neighbours hold too, and the result sums over the
/// sharers of a block (OpRecord::splitSharedSums). The call then returns the addends, and a call after it sums them: a
/// partial sum. Returns true if the call has changed and must be decided again.
bool splitSharedSums(plan::CallOp call, const OpRecord &record, const CallDecision &decision);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_TRANSFORMS_PROPAGATE_SPLIT_SUMS_H
