//===- convolution.h - gradients of convolutions -----------------*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_TENSOR_TORCH_KERNELS_GRADIENTS_CONVOLUTION_H
#define MESHPLAN_RUNTIME_TENSOR_TORCH_KERNELS_GRADIENTS_CONVOLUTION_H

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>
#include <span>

namespace meshplan {

/// The gradient of a convolution's input, which gives only its shape: gradient [batch, out, places..], input [batch,
/// in, places..], weight [out, in / groups, window..], from which the number of groups follows. Stride, padding and
/// dilation have one number for each window dim.
at::Tensor convolutionInputGradient(const at::Tensor &gradient, const at::Tensor &input, const at::Tensor &weight,
                                    at::IntArrayRef stride, at::IntArrayRef padding, at::IntArrayRef dilation);

/// True where PyTorch 2.11 leaves elements of the weight's gradient as they were in memory: with volumes of bf16 on a
/// CPU, for some lengths of windows. `weight` is [out, in / groups, window..].
bool losesWeightGradients(const at::Tensor &weight);

/// The same of a convolution's arguments.
bool losesWeightGradients(std::span<const c10::IValue> arguments);

/// That of its weight, which gives only its shape. Where PyTorch would lose elements it is made in f32 and rounded
/// once.
at::Tensor convolutionWeightGradient(const at::Tensor &gradient, const at::Tensor &input, const at::Tensor &weight,
                                     at::IntArrayRef stride, at::IntArrayRef padding, at::IntArrayRef dilation);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_TENSOR_TORCH_KERNELS_GRADIENTS_CONVOLUTION_H
