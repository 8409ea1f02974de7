//===- mean.h - means of sharded dims ---------------------------*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_TENSOR_TORCH_KERNELS_MEAN_H
#define MESHPLAN_RUNTIME_TENSOR_TORCH_KERNELS_MEAN_H

#include <ATen/core/Tensor.h>
#include <c10/util/OptionalArrayRef.h>
#include <optional>

namespace meshplan {

/// The sum of `self` over `dim` (all dims if absent or empty), divided by `count`: an addend of the mean of `count`
/// elements, some of which `self` holds. 16-bit dtypes are accumulated in f32. The result has `dtype`, else that of
/// `self`.
at::Tensor meanAddend(const at::Tensor &self, at::OptionalIntArrayRef dim, bool keepdim,
                      std::optional<at::ScalarType> dtype, int64_t count);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_TENSOR_TORCH_KERNELS_MEAN_H
