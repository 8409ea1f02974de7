//===- cheap_calls.h - calls recomputed instead of held ---------*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_SHARDING_FAMILIES_CHEAP_CALLS_H
#define MESHPLAN_COMPILER_SHARDING_FAMILIES_CHEAP_CALLS_H

#include "compiler/sharding/op_record.h"

namespace meshplan {

/// True if the call makes a few sweeps over its operands and gives the same bits each time: it moves all elements, is
/// pointwise, or its record marks it as cheap (`OpRecord::isCheap`). Where its operands are available, recomputing its
/// results costs less than holding them. Source: the operators that PyTorch's min-cut partitioner recomputes
/// (torch/_functorch/partitioners.py), without reductions. Pure and thread safe.
bool isCheapToRecompute(const CallView &call);

/// True if the results are views of the first operand, whatever its strides.
bool isView(const CallView &call);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_SHARDING_FAMILIES_CHEAP_CALLS_H
