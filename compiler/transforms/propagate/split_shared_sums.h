//===- split_shared_sums.h - addends of what ranks share --------*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_TRANSFORMS_PROPAGATE_SPLIT_SHARED_SUMS_H
#define MESHPLAN_COMPILER_TRANSFORMS_PROPAGATE_SPLIT_SHARED_SUMS_H

#include "compiler/transforms/propagate/decide_call.h"

namespace meshplan {

/// Where the decision leaves ranks with units in a result that neighbours hold too, and the result sums over those who
/// share a unit (OpRecord::splitSharedSums), the call gives the addends apart and a call behind it adds them up: a
/// partial sum. True if the call has changed and is to be decided anew.
bool splitSharedSums(plan::CallOp call, const OpRecord &record, const CallDecision &decision);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_TRANSFORMS_PROPAGATE_SPLIT_SHARED_SUMS_H
