//===- embedding_gradient.h - gradient of a divided table --------*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_TENSOR_TORCH_KERNELS_GRADIENTS_EMBEDDING_GRADIENT_H
#define MESHPLAN_RUNTIME_TENSOR_TORCH_KERNELS_GRADIENTS_EMBEDDING_GRADIENT_H

#include <ATen/core/Tensor.h>
#include <optional>

namespace meshplan {

/// The gradient of the rows [offset, offset + V) of a table, for `gradient` [.., E] of the rows that `indices` [..]
/// took. V is `rows`, or that of `weight` [V, E], of which only the shape is read; the result [V, E] has the type of
/// `gradient`. Row `paddingIdx` of
/// the whole table gets none; a negative number stands for no such row. With `scaleByFrequency` each row is divided by
/// the number of its indices.
///
/// Sums go in the order of the indices, whatever the number of threads. Those of 16-bit types are taken in f32 and
/// rounded once: a word may occur thousands of times.
at::Tensor embeddingGradient(const at::Tensor &gradient, const at::Tensor &indices,
                             const std::optional<at::Tensor> &weight, int64_t offset = 0, int64_t paddingIdx = -1,
                             bool scaleByFrequency = false, int64_t rows = -1);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_TENSOR_TORCH_KERNELS_GRADIENTS_EMBEDDING_GRADIENT_H
