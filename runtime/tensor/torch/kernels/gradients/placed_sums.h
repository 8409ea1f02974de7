//===- placed_sums.h - scattered sums ---------------------------*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_TENSOR_TORCH_KERNELS_GRADIENTS_PLACED_SUMS_H
#define MESHPLAN_RUNTIME_TENSOR_TORCH_KERNELS_GRADIENTS_PLACED_SUMS_H

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

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_TENSOR_TORCH_KERNELS_GRADIENTS_PLACED_SUMS_H
