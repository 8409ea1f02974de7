//===- attention_gradient.h - gradients of attention ------------*- C++ -*-===//
//
// Gradients of attention()'s first result. Masks, heads, dropout and failures are those of attention(). A row without
// visible keys passes no gradient on; with one visible key, its scores have none. f16 and bf16 are computed in f32.
// Works in tiles, so that the scores of all rows never exist at once.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_RUNTIME_TENSOR_TORCH_KERNELS_GRADIENTS_ATTENTION_GRADIENT_H
#define MESHPLAN_RUNTIME_TENSOR_TORCH_KERNELS_GRADIENTS_ATTENTION_GRADIENT_H

#include <ATen/core/Tensor.h>
#include <optional>
#include <tuple>

namespace meshplan {

/// `gradient` [B, H, S, E] is the gradient of attention()'s first result for the other arguments. Returns the gradients
/// of query, key and value, each with the shape and dtype of its operand. The gradient of a key head is the sum over
/// the query heads that read it; with `perHead` there is one per query head, [B, H, T, ..]. `out` and `logsumexp` are
/// the results of attention(). The fused kernels of a GPU need them and recompute the forward pass if they are not
/// given.
std::tuple<at::Tensor, at::Tensor, at::Tensor> attentionBackward(
    const at::Tensor &gradient, const at::Tensor &query, const at::Tensor &key, const at::Tensor &value,
    const std::optional<at::Tensor> &mask, const std::optional<at::Tensor> &keyMask, bool causal, int64_t window,
    double scale, double softcap, double dropout, int64_t headsPerKey = 0, int64_t firstHead = 0,
    int64_t firstKeyHead = 0, bool perHead = false, const std::optional<at::Tensor> &seed = std::nullopt,
    const std::optional<at::Tensor> &step = std::nullopt, int64_t number = 0, int64_t firstSample = 0,
    int64_t allHeads = 0, const std::optional<at::Tensor> &microbatch = std::nullopt, int64_t drawn = 0,
    const std::optional<at::Tensor> &out = std::nullopt, const std::optional<at::Tensor> &logsumexp = std::nullopt);

/// The gradient of `mask`, which must be given and have a float dtype. It has the mask's shape and dtype, and is summed
/// over the dims of extent 1.
at::Tensor attentionMaskGradient(const at::Tensor &gradient, const at::Tensor &query, const at::Tensor &key,
                                 const at::Tensor &value, const std::optional<at::Tensor> &mask,
                                 const std::optional<at::Tensor> &keyMask, bool causal, int64_t window, double scale,
                                 double softcap, double dropout, int64_t headsPerKey = 0, int64_t firstHead = 0,
                                 int64_t firstKeyHead = 0, const std::optional<at::Tensor> &seed = std::nullopt,
                                 const std::optional<at::Tensor> &step = std::nullopt, int64_t number = 0,
                                 int64_t firstSample = 0, int64_t allHeads = 0,
                                 const std::optional<at::Tensor> &microbatch = std::nullopt, int64_t drawn = 0);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_TENSOR_TORCH_KERNELS_GRADIENTS_ATTENTION_GRADIENT_H
