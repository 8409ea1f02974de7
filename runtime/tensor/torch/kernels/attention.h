//===- attention.h - scaled dot product attention ----------------*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_TENSOR_TORCH_KERNELS_ATTENTION_H
#define MESHPLAN_RUNTIME_TENSOR_TORCH_KERNELS_ATTENTION_H

#include "runtime/tensor/torch/kernels/random/draws.h"

#include <ATen/core/Tensor.h>
#include <optional>
#include <tuple>

namespace meshplan {

/// Which keys a query may look at. All masks hold together. A row that may look at nothing gives zeros and a logsumexp
/// of zero.
struct AttentionMasks {
  std::optional<at::Tensor> mask;    ///< each dim that of [B, H, S, T] or 1; bool: true may look; float: added
  std::optional<at::Tensor> keyMask; ///< [B, T] bool
  bool causal = false;               ///< key position <= query position, counted from the first of both
  int64_t window = 0;                ///< above 0: query position - key position < window

  bool causalOnly() const { return !mask && !keyMask && window == 0; }
};

/// Which of all heads a call has: query head h of the call reads its key head (first + h) / perKey - firstKey.
struct AttentionHeads {
  int64_t perKey = 0; ///< query heads that share a key head; 0: they are whole, H / G of them
  int64_t first = 0, firstKey = 0;
};

/// What attention and its gradients are of. H is a multiple of G where `heads.perKey` is 0.
struct AttentionCall {
  at::Tensor query; ///< [B, H, S, D]
  at::Tensor key;   ///< [B, G, T, D]
  at::Tensor value; ///< [B, G, T, E]
  AttentionMasks masks;
  double scale = 1;
  double softcap = 0; ///< scores are softcap * tanh(score / softcap); 0: as they are
  AttentionHeads heads;
  /// The probability with which the weight of a key is dropped, after the logsumexp; the others are divided by its
  /// rest. Weight [b, h, s, t] has the word of its place in the whole tensor [.., allHeads, S, T], where b counts from
  /// `firstSample` and h from `heads.first`.
  double dropout = 0;
  Draws draws;
  int64_t firstSample = 0;
  int64_t allHeads = 0; ///< 0: all are here
};

/// softmax(cap(query key^T * scale) + masks) value, [B, H, S, E], and the logarithm of the sum of the exponentials of
/// each row of scores, [B, H, S] in f32 (f64 for f64).
std::tuple<at::Tensor, at::Tensor> attention(const AttentionCall &call);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_TENSOR_TORCH_KERNELS_ATTENTION_H
