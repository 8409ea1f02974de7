//===- attention.h - scaled dot product attention ---------------*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_TENSOR_TORCH_KERNELS_ATTENTION_H
#define MESHPLAN_RUNTIME_TENSOR_TORCH_KERNELS_ATTENTION_H

#include "runtime/tensor/torch/kernels/random/draws.h"

#include <ATen/core/Tensor.h>
#include <optional>
#include <tuple>

namespace meshplan {

/// Which keys a query sees. A key is visible if all masks allow it. A row without visible keys gives zeros and a
/// logsumexp of zero.
struct AttentionMasks {
  std::optional<at::Tensor> mask;    ///< dims equal to [B, H, S, T] or 1; bool: true is visible; float: added to scores
  std::optional<at::Tensor> keyMask; ///< [B, T] bool
  bool causal = false;               ///< key position <= query position, both counted from 0
  int64_t window = 0;                ///< if > 0: query position - key position < window

  bool causalOnly() const { return !mask && !keyMask && window == 0; }
};

/// Which key head each query head reads. A rank may hold a shard of the heads, in which some query heads of the first
/// and the last key head are missing.
struct AttentionHeads {
  /// Number of query heads that share a key head: query head h reads key head (first + h) / perKey - firstKey.
  /// 0: H is a multiple of G, and query head h reads key head h / (H / G).
  int64_t perKey = 0;
  int64_t first = 0;    ///< index of the rank's first query head in the whole tensor
  int64_t firstKey = 0; ///< index of the rank's first key head in the whole tensor
};

/// The arguments of attention and of its gradients.
struct AttentionCall {
  at::Tensor query; ///< [B, H, S, D]
  at::Tensor key;   ///< [B, G, T, D]
  at::Tensor value; ///< [B, G, T, E]
  AttentionMasks masks;
  double scale = 1;
  double softcap = 0; ///< bounds the scores: cap(x) = softcap * tanh(x / softcap); 0: cap(x) = x
  AttentionHeads heads;
  /// Each weight is dropped with this probability, after the logsumexp, and the others are scaled by 1 / (1 - dropout).
  /// Weight [b, h, s, t] uses its word in the stream of `draws`, counted in the whole tensor [.., allHeads, S, T],
  /// where b starts at `firstSample` and h at `heads.first`.
  double dropout = 0;
  Draws draws;
  int64_t firstSample = 0;
  int64_t allHeads = 0; ///< 0: the rank holds all heads
};

/// softmax(cap(query key^T * scale) + masks) value [B, H, S, E], and the logsumexp of each row of scores [B, H, S] in
/// f32 (f64 for f64).
std::tuple<at::Tensor, at::Tensor> attention(const AttentionCall &call);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_TENSOR_TORCH_KERNELS_ATTENTION_H
