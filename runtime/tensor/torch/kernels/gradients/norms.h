//===- norms.h - gradients of layer and RMS norm -----------------*- C++ -*-===//
//
// `gradient` is that of the result and has the shape of `input`, which ends in
// `shape`. Means and variances are computed anew, rows in blocks; f16 and bf16
// in f32. Results have the type of the input.
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

/// The gradient of the weight, of dims `shape`. That of the bias is a sum of `gradient`.
at::Tensor layerNormWeightGradient(const at::Tensor &gradient, const at::Tensor &input, at::IntArrayRef shape,
                                   double eps = 1e-5);

/// The same for at::rms_norm. No eps is the machine epsilon of the type of the computation.
at::Tensor rmsNormInputGradient(const at::Tensor &gradient, const at::Tensor &input, at::IntArrayRef shape,
                                const std::optional<at::Tensor> &weight, std::optional<double> eps = {});
at::Tensor rmsNormWeightGradient(const at::Tensor &gradient, const at::Tensor &input, at::IntArrayRef shape,
                                 std::optional<double> eps = {});

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_TENSOR_TORCH_KERNELS_GRADIENTS_NORMS_H
