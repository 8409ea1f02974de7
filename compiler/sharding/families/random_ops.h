//===- random_ops.h - calls that draw random numbers ------------*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_SHARDING_FAMILIES_RANDOM_OPS_H
#define MESHPLAN_COMPILER_SHARDING_FAMILIES_RANDOM_OPS_H

#include "compiler/sharding/op_record.h"

namespace meshplan {

/// True if two calls with equal operands may give different results: the operators that ATen tags
/// `nondeterministic_seeded`, unless their arguments disable it (probability 0, a layer in evaluation). False for the
/// runtime's kernels once they have a `number`: their random numbers are a function of it and of the operands. Pure and
/// thread safe.
bool drawsRandomNumbers(const CallView &call);

/// Number of random numbers that a kernel of the runtime with a `number` draws for the whole tensors; 0 for other
/// calls.
int64_t drawCount(const CallView &call);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_SHARDING_FAMILIES_RANDOM_OPS_H
