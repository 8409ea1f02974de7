//===- split_shared_sums.h - addends of shared blocks -----------*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_TRANSFORMS_PROPAGATE_SPLIT_SHARED_SUMS_H
#define MESHPLAN_COMPILER_TRANSFORMS_PROPAGATE_SPLIT_SHARED_SUMS_H

#include "compiler/transforms/propagate/decide_call.h"

namespace meshplan {

/// Applies where a decision gives a rank blocks of a result that its neighbours hold too, and the result sums over the
/// sharers of a block (OpRecord::splitSharedSums). The call then returns the addends, and a call after it sums them: a
/// partial sum. Returns true if the call has changed and must be decided again.
bool splitSharedSums(plan::CallOp call, const OpRecord &record, const CallDecision &decision);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_TRANSFORMS_PROPAGATE_SPLIT_SHARED_SUMS_H
