//===- device_attention.cpp - fused attention of a GPU --------------------===//

#include "runtime/tensor/torch/kernels/device_attention.h"

#include <ATen/ops/_flash_attention_backward.h>
#include <ATen/ops/_flash_attention_forward.h>
#include <ATen/ops/empty.h>

using namespace meshplan;

bool meshplan::hasDeviceKernel(const at::Tensor &query, const at::Tensor &key, const at::Tensor &value,
                               const AttentionMasks &masks, const AttentionForm &form) {
  bool isTaken = query.is_cuda() && at::isReducedFloatingType(query.scalar_type()) &&
                 kernel_blocks::isFusedHeadSize(query.size(3), value.size(3)) && query.numel() > 0 && key.numel() > 0;
  bool isMasked = masks.mask || masks.keyMask;
  bool isCounted = masks.causal || masks.window > 0;
  return isTaken && !isMasked && (!isCounted || query.size(2) == key.size(2)) && form.softcap == 0 &&
         form.dropout.probability == 0;
}

namespace {

/// The operands in the layout of the kernels, [B, S, H, D], and their other arguments.
struct FlashCall {
  FlashCall(const at::Tensor &query, const at::Tensor &key, const at::Tensor &value, const AttentionMasks &masks,
            double scale)
      : query(byRows(query)), key(byRows(key)), value(byRows(value)), rows(query.size(2)), keys(key.size(2)),
        causal(masks.causal), scale(scale) {
    if (masks.window > 0) {
      // The kernels count the positions beside the query's own, so a window of 1 is 0 on the left; -1 means no bound.
      left = masks.window - 1;
      right = masks.causal ? 0 : -1;
    }
  }

  static at::Tensor byRows(const at::Tensor &tensor) { return withAdjacentElements(tensor).transpose(1, 2); }

  auto forward() const {
    return at::_flash_attention_forward(query, key, value, std::nullopt, std::nullopt, rows, keys, /*dropout_p=*/0.0,
                                        causal, /*return_debug_mask=*/false, std::optional<double>(scale), left, right);
  }

  at::Tensor query, key, value;
  int64_t rows, keys;
  bool causal;
  double scale;
  std::optional<int64_t> left, right; ///< of a window: visible positions on either side
};

} // namespace

std::tuple<at::Tensor, at::Tensor> meshplan::deviceAttention(const at::Tensor &query, const at::Tensor &key,
                                                             const at::Tensor &value, const AttentionMasks &masks,
                                                             double scale) {
  auto result = FlashCall(query, key, value, masks, scale).forward();
  return {std::get<0>(result).transpose(1, 2), std::get<1>(result)};
}

std::tuple<at::Tensor, at::Tensor, at::Tensor>
meshplan::deviceAttentionBackward(const at::Tensor &gradient, const at::Tensor &query, const at::Tensor &key,
                                  const at::Tensor &value, const AttentionMasks &masks, double scale,
                                  const std::optional<at::Tensor> &out, const std::optional<at::Tensor> &logsumexp) {
  if (!out || !logsumexp) {
    auto [made, logarithms] = deviceAttention(query, key, value, masks, scale);
    return deviceAttentionBackward(gradient, query, key, value, masks, scale, made, logarithms);
  }
  FlashCall call(query, key, value, masks, scale);
  // There are no variable-length sequences and no dropout.
  at::Tensor ends, words = at::empty({2}, query.options().dtype(at::kUInt64)), offset = words.narrow(0, 0, 1);
  auto [ofQuery, ofKey, ofValue] = at::_flash_attention_backward(
      FlashCall::byRows(gradient), call.query, call.key, call.value, FlashCall::byRows(*out), logsumexp->contiguous(),
      ends, ends, call.rows, call.keys, /*dropout_p=*/0.0, call.causal, words, offset, std::optional<double>(scale),
      call.left, call.right);
  return {ofQuery.transpose(1, 2), ofKey.transpose(1, 2), ofValue.transpose(1, 2)};
}
