//===- device_attention.h - fused attention of a GPU -------------*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_TENSOR_TORCH_KERNELS_DEVICE_ATTENTION_H
#define MESHPLAN_RUNTIME_TENSOR_TORCH_KERNELS_DEVICE_ATTENTION_H

#include "runtime/tensor/torch/kernels/attention_blocks.h"

namespace meshplan {

/// Whether ATen's flash kernels for CUDA compute a call with these operands, [B, H, S, D], [B, G, T, D] and
/// [B, G, T, E]. They take 16-bit types, heads of one size, a multiple of 8 up to 256, no mask other than `causal` and
/// `window`, and count a causal mask from the last of both, so that both need the same length then.
bool hasDeviceKernel(const at::Tensor &query, const at::Tensor &key, const at::Tensor &value,
                     const AttentionMasks &masks, const AttentionForm &form);

/// attention() where hasDeviceKernel().
std::tuple<at::Tensor, at::Tensor> deviceAttention(const at::Tensor &query, const at::Tensor &key,
                                                   const at::Tensor &value, const AttentionMasks &masks, double scale);

/// Gradients of query, key and value, in their types, for `gradient` of attention()'s first result. `out` and
/// `logsumexp` are its results; without them they are computed once more.
std::tuple<at::Tensor, at::Tensor, at::Tensor>
deviceAttentionBackward(const at::Tensor &gradient, const at::Tensor &query, const at::Tensor &key,
                        const at::Tensor &value, const AttentionMasks &masks, double scale,
                        const std::optional<at::Tensor> &out, const std::optional<at::Tensor> &logsumexp);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_TENSOR_TORCH_KERNELS_DEVICE_ATTENTION_H
