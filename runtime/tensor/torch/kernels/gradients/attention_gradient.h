//===- attention_gradient.h - gradients of attention -------------*- C++ -*-===//
//
// Of attention()'s first result. Masks, heads, dropout and failures are those of attention();
// a row that may look at nothing passes no gradient on, and neither do the scores of one that may look at one key. f16
// and bf16 are computed in f32. Work goes in tiles of scores, of which all never exist at once.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_RUNTIME_TENSOR_TORCH_KERNELS_GRADIENTS_ATTENTION_GRADIENT_H
#define MESHPLAN_RUNTIME_TENSOR_TORCH_KERNELS_GRADIENTS_ATTENTION_GRADIENT_H

#include <ATen/core/Tensor.h>
#include <optional>
#include <tuple>

namespace meshplan {

/// `gradient` [B, H, S, E] is that of what attention() gave for the other arguments. Gives the gradients of query, key
/// and value, each of its operand's shape and type. Those of a key head are sums over the query heads that read it;
/// with `perHead` they are [B, H, T, ..], one for each query head. `out` and `logsumexp` are what attention() gave: the
/// fused kernels of a GPU read them, and the forward pass is computed once more for these where they are not given.
std::tuple<at::Tensor, at::Tensor, at::Tensor> attentionBackward(
    const at::Tensor &gradient, const at::Tensor &query, const at::Tensor &key, const at::Tensor &value,
    const std::optional<at::Tensor> &mask, const std::optional<at::Tensor> &keyMask, bool causal, int64_t window,
    double scale, double softcap, double dropout, int64_t headsPerKey = 0, int64_t firstHead = 0,
    int64_t firstKeyHead = 0, bool perHead = false, const std::optional<at::Tensor> &seed = std::nullopt,
    const std::optional<at::Tensor> &step = std::nullopt, int64_t number = 0, int64_t firstSample = 0,
    int64_t allHeads = 0, const std::optional<at::Tensor> &microbatch = std::nullopt, int64_t drawn = 0,
    const std::optional<at::Tensor> &out = std::nullopt, const std::optional<at::Tensor> &logsumexp = std::nullopt);

/// The gradient of `mask`, which is there and of a floating type: of its shape and type, summed over the dims where it
/// has 1.
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
