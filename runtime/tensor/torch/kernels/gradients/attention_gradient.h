//===- attention_gradient.h - gradients of attention -------------*- C++ -*-===//
//
// Of attention()'s first result. Masks, heads, dropout and failures are those of attention();
// a row that may look at nothing passes no gradient on, and neither do the scores of one that may look at one key. f16
// and bf16 are computed in f32. Work goes in tiles of scores, of which all never exist at once.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_RUNTIME_TENSOR_TORCH_KERNELS_GRADIENTS_ATTENTION_GRADIENT_H
#define MESHPLAN_RUNTIME_TENSOR_TORCH_KERNELS_GRADIENTS_ATTENTION_GRADIENT_H

#include "runtime/tensor/torch/kernels/attention.h"

namespace meshplan {

/// `gradient` [B, H, S, E] is that of what attention() gives for the call. Gives the gradients of query, key and value,
/// each of its operand's shape and type. Those of a key head are sums over the query heads that read it; with `perHead`
/// they are [B, H, T, ..], one for each query head. `out` and `logsumexp` are what attention() gave: the fused kernels
/// of a GPU read them, and the forward pass is computed once more for these where they are not given.
std::tuple<at::Tensor, at::Tensor, at::Tensor> attentionBackward(const at::Tensor &gradient, const AttentionCall &call,
                                                                 bool perHead, const std::optional<at::Tensor> &out,
                                                                 const std::optional<at::Tensor> &logsumexp);

/// The gradient of the call's mask, which is there and of a floating type: of its shape and type, summed over the dims
/// where it has 1.
at::Tensor attentionMaskGradient(const at::Tensor &gradient, const AttentionCall &call);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_TENSOR_TORCH_KERNELS_GRADIENTS_ATTENTION_GRADIENT_H
