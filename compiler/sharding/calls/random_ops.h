//===- random_ops.h - which calls draw random numbers -----------*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_SHARDING_CALLS_RANDOM_OPS_H
#define MESHPLAN_COMPILER_SHARDING_CALLS_RANDOM_OPS_H

#include "compiler/sharding/op_record.h"

namespace meshplan {

/// True if two calls with equal operands may give different results: the operators that ATen tags
/// `nondeterministic_seeded`, unless their arguments switch it off (a probability of 0, a layer outside of training).
/// The runtime's kernels do not, once they have a `number`: their numbers follow from it and from their operands.
/// Pure and thread safe.
bool drawsRandomNumbers(const CallView &call);

/// How many random numbers the whole tensors of a kernel of the runtime take that draws by number; 0 for other calls.
int64_t drawnNumbers(const CallView &call);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_SHARDING_CALLS_RANDOM_OPS_H
