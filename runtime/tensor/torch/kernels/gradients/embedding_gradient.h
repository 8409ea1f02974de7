//===- embedding_gradient.h - of a sharded table ----------------*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_TENSOR_TORCH_KERNELS_GRADIENTS_EMBEDDING_GRADIENT_H
#define MESHPLAN_RUNTIME_TENSOR_TORCH_KERNELS_GRADIENTS_EMBEDDING_GRADIENT_H

#include <ATen/core/Tensor.h>
#include <optional>

namespace meshplan {

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

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_TENSOR_TORCH_KERNELS_GRADIENTS_EMBEDDING_GRADIENT_H
