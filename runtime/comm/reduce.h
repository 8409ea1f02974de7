//===- reduce.h - reductions in a fixed order -------------------*- C++ -*-===//
//
// The reduction that all CPU backends share, so that their results have the same bits.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_RUNTIME_COMM_REDUCE_H
#define MESHPLAN_RUNTIME_COMM_REDUCE_H

#include "runtime/comm/collective.h"

namespace meshplan {

/// Reduces `count` elements of all `inputs`, in their order, and stores the result in each of `outputs`. An output may
/// be one of the inputs; other overlaps are not allowed. Buffers are aligned for `dtype`. bool supports only max and
/// min.
void reduceInOrder(std::span<const void *const> inputs, std::span<void *const> outputs, int64_t count, DType dtype,
                   Reduction reduction);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_COMM_REDUCE_H
