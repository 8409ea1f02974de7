//===- attention_gradient.h - gradients of attention ------------*- C++ -*-===//
//
// Gradients of attention()'s first result. Masks, heads, dropout and failures are those of attention(). A row without
// visible keys passes no gradient on; with one visible key, its scores have none. f16 and bf16 are computed in f32.
// Works in tiles, so that the scores of all rows never exist at once.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_RUNTIME_TENSOR_TORCH_KERNELS_GRADIENTS_ATTENTION_GRADIENT_H
#define MESHPLAN_RUNTIME_TENSOR_TORCH_KERNELS_GRADIENTS_ATTENTION_GRADIENT_H

#include "runtime/tensor/torch/kernels/attention.h"

namespace meshplan {

/// `gradient` [B, H, S, E] is the gradient of the first result of attention() for the call. Returns the gradients of
/// query, key and value, each with the shape and dtype of its operand. The gradient of a key head is the sum over the
/// query heads that read it; with `perHead` there is one per query head, [B, H, T, ..]. `out` and `logsumexp` are the
/// results of attention(). The fused kernels of a GPU need them and recompute the forward pass if they are not given.
std::tuple<at::Tensor, at::Tensor, at::Tensor> attentionBackward(const at::Tensor &gradient, const AttentionCall &call,
                                                                 bool perHead, const std::optional<at::Tensor> &out,
                                                                 const std::optional<at::Tensor> &logsumexp);

/// The gradient of the call's `mask`, which must be given and have a float dtype. It has the mask's shape and dtype,
/// and is summed over the dims of extent 1.
at::Tensor attentionMaskGradient(const at::Tensor &gradient, const AttentionCall &call);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_TENSOR_TORCH_KERNELS_GRADIENTS_ATTENTION_GRADIENT_H
