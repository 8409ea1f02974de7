//===- copy.h - a differentiable copy ---------------------------*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_TENSOR_TORCH_KERNELS_COPY_H
#define MESHPLAN_RUNTIME_TENSOR_TORCH_KERNELS_COPY_H

#include <ATen/core/Tensor.h>

namespace meshplan {

/// The elements of `src`, broadcast and converted to the shape and dtype of `self`: aten::copy, composed of operators
/// that LibTorch can differentiate. The result does not depend on the elements of `self`.
at::Tensor composedCopy(const at::Tensor &self, const at::Tensor &src);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_TENSOR_TORCH_KERNELS_COPY_H
