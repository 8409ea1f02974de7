//===- attention.h - scaled dot product attention ----------------*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_TENSOR_TORCH_KERNELS_ATTENTION_H
#define MESHPLAN_RUNTIME_TENSOR_TORCH_KERNELS_ATTENTION_H

#include <ATen/core/Tensor.h>
#include <optional>
#include <tuple>

namespace meshplan {

/// softmax(cap(query key^T * scale) + masks) value, and the logarithm of the sum
/// of the exponentials of each row of scores. cap(x) = softcap * tanh(x / softcap)
/// keeps scores within the softcap; a softcap of 0 leaves them.
///
/// query [B, H, S, D], key [B, G, T, D], value [B, G, T, E] give out [B, H, S, E]
/// and logsumexp [B, H, S] in f32 (f64 for f64). H is a multiple of G; query head
/// h reads key head h / (H / G). With `headsPerKey` the heads are a part of all,
/// from `firstHead` and `firstKeyHead` on, of which so many share a key head: query
/// head h reads key head (firstHead + h) / headsPerKey - firstKeyHead.
///
/// All masks hold together: `mask` (bool: true may look; float: added) of dims
/// equal to [B, H, S, T] or 1; `keyMask` [B, T] bool; `causal`: key position <=
/// query position, counted from the first of both; `window` w > 0: query
/// position - key position < w. A row that may look at nothing gives zeros and
/// a logsumexp of zero.
///
/// With a `dropout` the weights of keys are dropped with that probability, behind the logsumexp, and the others are
/// divided by its rest: element [b, h, s, t] by its word in the stream of `seed`, `step` and `number` (random/draws.h),
/// counted in the whole tensor [.., allHeads, S, T] with b from `firstSample` and h from `firstHead` on. allHeads of 0:
/// all heads are here. `microbatch` and `drawn` are as there, too.
std::tuple<at::Tensor, at::Tensor>
attention(const at::Tensor &query, const at::Tensor &key, const at::Tensor &value,
          const std::optional<at::Tensor> &mask, const std::optional<at::Tensor> &keyMask, bool causal, int64_t window,
          double scale, double softcap, double dropout, int64_t headsPerKey = 0, int64_t firstHead = 0,
          int64_t firstKeyHead = 0, const std::optional<at::Tensor> &seed = std::nullopt,
          const std::optional<at::Tensor> &step = std::nullopt, int64_t number = 0, int64_t firstSample = 0,
          int64_t allHeads = 0, const std::optional<at::Tensor> &microbatch = std::nullopt, int64_t drawn = 0);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_TENSOR_TORCH_KERNELS_ATTENTION_H
