//===- exchanged_rows.h - rows before and after an exchange -----*- C++ -*-===//
//
// Ranks exchange the rows of their tokens so that each has all rows of its experts
// (runtime/exec/steps/exchange_step.cpp). `arrivals` are the rows of a rank's experts in the order in which the
// exchange receives and sends them: by the rank of their tokens, then by expert, then by token. All ranks know `counts`
// [ranks, experts], i64: the number of rows of each rank's tokens for each expert that the group has together, the
// first of which is number `begin`.
//
// Example: counts [[2, 1, 0], [1, 1, 3]]. A rank with the experts 0 and 1 receives a a b from rank 0 and a b from rank
// 1, where a is a row of expert 0. By expert these are a a a b b.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_RUNTIME_TENSOR_TORCH_KERNELS_EXCHANGED_ROWS_H
#define MESHPLAN_RUNTIME_TENSOR_TORCH_KERNELS_EXCHANGED_ROWS_H

#include <ATen/core/Tensor.h>

namespace meshplan {

/// counts [experts] of a rank to [1, experts] on the device of `like`, to be gathered from all ranks.
at::Tensor countsToGather(const at::Tensor &counts, const at::Tensor &like);

/// The gathered counts in host memory. Waits for them.
at::Tensor countsOnHost(const at::Tensor &self);

/// counts [ranks, experts] to the counts of the experts [first, first + experts): the rows that they have together.
at::Tensor countsOfExperts(const at::Tensor &counts, int64_t begin, int64_t first, int64_t experts);

/// arrivals [R, ..] of the experts [first, first + experts) by expert, or the reverse.
at::Tensor orderByExpert(const at::Tensor &arrivals, const at::Tensor &counts, int64_t begin, int64_t first,
                         int64_t experts);
at::Tensor orderByRank(const at::Tensor &rows, const at::Tensor &counts, int64_t begin, int64_t first, int64_t experts);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_TENSOR_TORCH_KERNELS_EXCHANGED_ROWS_H
