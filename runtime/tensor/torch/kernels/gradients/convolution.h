//===- convolution.h - gradients of convolutions ----------------*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_TENSOR_TORCH_KERNELS_GRADIENTS_CONVOLUTION_H
#define MESHPLAN_RUNTIME_TENSOR_TORCH_KERNELS_GRADIENTS_CONVOLUTION_H

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>
#include <span>

namespace meshplan {

/// The gradient of a convolution's input. Of `input` only the shape is used. gradient [batch, out, positions..], input
/// [batch, in, positions..], weight [out, in / groups, window..], which determines the number of groups. Stride,
/// padding and dilation have one number per window dim.
at::Tensor convolutionInputGradient(const at::Tensor &gradient, const at::Tensor &input, const at::Tensor &weight,
                                    at::IntArrayRef stride, at::IntArrayRef padding, at::IntArrayRef dilation);

/// True if PyTorch 2.11 leaves elements of the weight's gradient uninitialized: for 3-d convolutions of bf16 on a CPU,
/// with some window lengths. `weight` is [out, in / groups, window..].
bool losesWeightGradients(const at::Tensor &weight);

/// As above, for the arguments of a convolution.
bool losesWeightGradients(std::span<const c10::IValue> arguments);

/// The gradient of the weight. Of `weight` only the shape is used. Computed in f32 and rounded once if PyTorch would
/// lose elements.
at::Tensor convolutionWeightGradient(const at::Tensor &gradient, const at::Tensor &input, const at::Tensor &weight,
                                     at::IntArrayRef stride, at::IntArrayRef padding, at::IntArrayRef dilation);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_TENSOR_TORCH_KERNELS_GRADIENTS_CONVOLUTION_H
