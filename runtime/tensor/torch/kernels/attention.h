//===- attention.h - scaled dot product attention ---------------*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_TENSOR_TORCH_KERNELS_ATTENTION_H
#define MESHPLAN_RUNTIME_TENSOR_TORCH_KERNELS_ATTENTION_H

#include <ATen/core/Tensor.h>
#include <optional>
#include <tuple>

namespace meshplan {

/// softmax(cap(query key^T * scale) + masks) value, and the logsumexp of each row of scores. cap(x) = softcap * tanh(x
/// / softcap) bounds the scores by the softcap; a softcap of 0 has no effect.
///
/// query [B, H, S, D], key [B, G, T, D], value [B, G, T, E] give out [B, H, S, E] and logsumexp [B, H, S] in f32 (f64
/// for f64). H is a multiple of G; query head h reads key head h / (H / G). With `headsPerKey` > 0 the rank holds a
/// shard of the heads, beginning with `firstHead` and `firstKeyHead` of the whole, and headsPerKey query heads share a
/// key head: query head h reads key head (firstHead + h) / headsPerKey - firstKeyHead.
///
/// A key is visible if all masks allow it: `mask` (bool: true is visible; float: added to the scores) with dims equal
/// to [B, H, S, T] or 1; `keyMask` [B, T] bool; `causal`: key position <= query position, both counted from 0; `window`
/// w > 0: query position - key position < w. A row without visible keys gives zeros and a logsumexp of zero.
///
/// `dropout` drops each weight with that probability, after the logsumexp, and scales the others by 1 / (1 - dropout).
/// Element [b, h, s, t] uses its word in the stream of `seed`, `step` and `number` (random/draws.h), counted in the
/// whole tensor [.., allHeads, S, T], where b starts at `firstSample` and h at `firstHead`. allHeads 0: the rank holds
/// all heads. For `microbatch` and `drawn` see there.
std::tuple<at::Tensor, at::Tensor>
attention(const at::Tensor &query, const at::Tensor &key, const at::Tensor &value,
          const std::optional<at::Tensor> &mask, const std::optional<at::Tensor> &keyMask, bool causal, int64_t window,
          double scale, double softcap, double dropout, int64_t headsPerKey = 0, int64_t firstHead = 0,
          int64_t firstKeyHead = 0, const std::optional<at::Tensor> &seed = std::nullopt,
          const std::optional<at::Tensor> &step = std::nullopt, int64_t number = 0, int64_t firstSample = 0,
          int64_t allHeads = 0, const std::optional<at::Tensor> &microbatch = std::nullopt, int64_t drawn = 0);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_TENSOR_TORCH_KERNELS_ATTENTION_H
