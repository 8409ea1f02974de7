//===- copy.h - copies that have a derivative --------------------*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_TENSOR_TORCH_KERNELS_COPY_H
#define MESHPLAN_RUNTIME_TENSOR_TORCH_KERNELS_COPY_H

#include <ATen/core/Tensor.h>

namespace meshplan {

/// The numbers of `src`, which are broadcast, in the shape and element type of `self`: aten::copy of operators that
/// LibTorch's autograd knows. Nothing depends on the numbers of `self`.
at::Tensor composedCopy(const at::Tensor &self, const at::Tensor &src);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_TENSOR_TORCH_KERNELS_COPY_H
