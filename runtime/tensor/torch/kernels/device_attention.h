//===- device_attention.h - fused attention of a GPU ------------*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_TENSOR_TORCH_KERNELS_DEVICE_ATTENTION_H
#define MESHPLAN_RUNTIME_TENSOR_TORCH_KERNELS_DEVICE_ATTENTION_H

#include "runtime/tensor/torch/kernels/attention_blocks.h"

namespace meshplan {

/// True if ATen's flash kernels for CUDA support a call with these operands: [B, H, S, D], [B, G, T, D] and [B, G, T,
/// E]. They need 16-bit dtypes and heads for which isFusedHeadSize (schema/kernel_blocks.h) is true. They support no
/// mask but `causal` and `window`. They align causal masks at the end of both sequences, so these must then have equal
/// lengths.
bool hasDeviceKernel(const at::Tensor &query, const at::Tensor &key, const at::Tensor &value,
                     const AttentionMasks &masks, const AttentionForm &form);

/// attention(), if hasDeviceKernel().
std::tuple<at::Tensor, at::Tensor> deviceAttention(const at::Tensor &query, const at::Tensor &key,
                                                   const at::Tensor &value, const AttentionMasks &masks, double scale);

/// Gradients of query, key and value, in their dtypes, for `gradient` of attention()'s first result. `out` and
/// `logsumexp` are its results; if they are not given, they are recomputed.
std::tuple<at::Tensor, at::Tensor, at::Tensor>
deviceAttentionBackward(const at::Tensor &gradient, const at::Tensor &query, const at::Tensor &key,
                        const at::Tensor &value, const AttentionMasks &masks, double scale,
                        const std::optional<at::Tensor> &out, const std::optional<at::Tensor> &logsumexp);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_TENSOR_TORCH_KERNELS_DEVICE_ATTENTION_H
