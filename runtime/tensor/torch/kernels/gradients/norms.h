//===- norms.h - gradients of layer and RMS norm ----------------*- C++ -*-===//
//
// Gradients of layer norm and RMS norm. `gradient` is the gradient of the result, in the shape of `input`, whose last
// dims are `shape`. Means and variances are recomputed, in blocks of rows; f16 and bf16 in f32. Results have the
// input's dtype.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_RUNTIME_TENSOR_TORCH_KERNELS_GRADIENTS_NORMS_H
#define MESHPLAN_RUNTIME_TENSOR_TORCH_KERNELS_GRADIENTS_NORMS_H

#include <ATen/core/Tensor.h>
#include <optional>

namespace meshplan {

/// The gradient of `input`; `weight` has the dims `shape`.
at::Tensor layerNormInputGradient(const at::Tensor &gradient, const at::Tensor &input, at::IntArrayRef shape,
                                  const std::optional<at::Tensor> &weight, double eps = 1e-5);

/// The gradient of the weight, with the dims `shape`. The gradient of the bias is a sum of `gradient`.
at::Tensor layerNormWeightGradient(const at::Tensor &gradient, const at::Tensor &input, at::IntArrayRef shape,
                                   double eps = 1e-5);

/// As above for at::rms_norm. Without eps, the machine epsilon of the dtype of the computation is used.
at::Tensor rmsNormInputGradient(const at::Tensor &gradient, const at::Tensor &input, at::IntArrayRef shape,
                                const std::optional<at::Tensor> &weight, std::optional<double> eps = {});
at::Tensor rmsNormWeightGradient(const at::Tensor &gradient, const at::Tensor &input, at::IntArrayRef shape,
                                 std::optional<double> eps = {});

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_TENSOR_TORCH_KERNELS_GRADIENTS_NORMS_H
