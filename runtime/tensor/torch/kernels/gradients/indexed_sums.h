//===- indexed_sums.h - gradients of elements read often --------*- C++ -*-===//
//
// Gradients of operators that read an element of a tensor several times: at each index, in each lookup of a row, by
// each head. The gradient of an element is the sum of the gradients of its reads.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_RUNTIME_TENSOR_TORCH_KERNELS_GRADIENTS_INDEXED_SUMS_H
#define MESHPLAN_RUNTIME_TENSOR_TORCH_KERNELS_GRADIENTS_INDEXED_SUMS_H

#include <ATen/core/List.h>
#include <ATen/core/Tensor.h>
#include <optional>

namespace meshplan {

/// The gradient of aten.gather of a tensor of `size`: adds `source` at the positions in `index` along `dim`; the rest
/// is zero.
at::Tensor scatterSum(const at::Tensor &source, const at::Tensor &index, int64_t dim, at::IntArrayRef size);

/// The gradient of aten.index of a tensor of `size`: adds `source`, which has the dims of the selection, at the
/// selected elements. 16-bit dtypes are accumulated in f32 and rounded once.
at::Tensor indexSum(const at::Tensor &source, const c10::List<std::optional<at::Tensor>> &indices,
                    at::IntArrayRef size);

/// The gradient of the rows [offset, offset + V) of a table, for the gradient [.., E] of the rows that `indices` [..]
/// selected. V is `rows`, or that of `weight` [V, E], of which only the shape is used. The result [V, E] has the dtype
/// of `gradient`. Row `paddingIdx` of the whole table gets no gradient; a negative number means there is no such row.
/// With `scaleByFrequency` each row is divided by its number of indices.
///
/// Sums are accumulated in the order of the indices, whatever the number of threads. 16-bit dtypes are accumulated in
/// f32 and rounded once, because a token may occur thousands of times.
at::Tensor embeddingGradient(const at::Tensor &gradient, const at::Tensor &indices,
                             const std::optional<at::Tensor> &weight, int64_t offset = 0, int64_t paddingIdx = -1,
                             bool scaleByFrequency = false, int64_t rows = -1);

/// input [B, h, ..] holds the heads firstHead .. firstHead + h of the whole. Returns [B, groups, ..], with head n added
/// to group n / headsPerGroup; groups without heads are zero. 16-bit dtypes are accumulated in f32 and rounded once.
/// Fails if a head belongs to no group.
at::Tensor sumSharedHeads(const at::Tensor &input, int64_t groups, int64_t headsPerGroup, int64_t firstHead = 0);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_TENSOR_TORCH_KERNELS_GRADIENTS_INDEXED_SUMS_H
