//===- attention.cpp - scaled dot product attention -----------------------===//
//
// Chooses a kernel. Without masks other than `causal`, the whole call goes to PyTorch's flash kernel; on a GPU also
// with a window. With masks it runs in blocks of query rows, so that the additive mask is small and unreachable keys
// are not visited. The flash kernels support neither softcap nor dropout.
//
// Example: S = T = 1024, causal, window 256, blocks of 512 rows. Block 0 (rows 0-511) reads keys 0-511 with a mask of
// 512 x 512. Block 1 (rows 512-1023) reads keys 257-1023 with a mask of 512 x 767: row 512 reaches back to key 257.
//
//===----------------------------------------------------------------------===//

#include "runtime/tensor/torch/kernels/attention.h"
#include "runtime/tensor/torch/kernels/accumulation.h"
#include "runtime/tensor/torch/kernels/attention_blocks.h"
#include "runtime/tensor/torch/kernels/device_attention.h"

#include <ATen/ATen.h>
#include <algorithm>

using namespace meshplan;

using Result = std::tuple<at::Tensor, at::Tensor>;

/// The dtype of a block's additive mask. It must not be narrower than the given mask: the lowest number of a wider
/// dtype would become minus infinity, and a row of such numbers would count as a row of hidden keys.
static at::ScalarType maskType(const at::Tensor &query, const AttentionMasks &masks, bool flash) {
  if (!flash)
    return at::kDouble;
  bool isWider = masks.mask && masks.mask->is_floating_point() && masks.mask->element_size() > query.element_size();
  return isWider ? masks.mask->scalar_type() : query.scalar_type();
}

static Result flashAttention(const at::Tensor &query, const at::Tensor &key, const at::Tensor &value,
                             const std::optional<at::Tensor> &mask, bool causal, double scale) {
  return at::_scaled_dot_product_flash_attention_for_cpu(withAdjacentElements(query), withAdjacentElements(key),
                                                         withAdjacentElements(value), 0.0, causal, mask, scale);
}

/// The definition, for shapes and devices without a flash kernel. Computes in f32 for 16-bit types.
static Result mathAttention(const at::Tensor &query, const at::Tensor &key, const at::Tensor &value,
                            const at::Tensor &mask, const AttentionForm &form, IndexSpan rows, IndexSpan keys) {
  at::ScalarType type = accumulationType(query.scalar_type());
  int64_t repeats = query.size(1) / key.size(1);
  auto shared = [&](const at::Tensor &tensor) {
    return repeats == 1 ? tensor.to(type) : tensor.to(type).repeat_interleave(repeats, 1);
  };
  at::Tensor weights = cappedScores(query.to(type), shared(key), form).add_(mask.to(type));
  at::Tensor logsumexp = softmaxInPlace(weights);
  if (form.dropout.probability != 0)
    dropWeights(weights, form.dropout, rows, keys);
  return {at::matmul(weights, shared(value)).to(query.scalar_type()), logsumexp};
}

static Result attendBlock(const AttentionCall &call, const AttentionForm &form, IndexSpan rows) {
  IndexSpan keys = reachableKeys(rows, call.key.size(2), call.masks);
  bool flash = hasFlashKernel(call.query, call.value, form);
  at::Tensor mask =
      additiveMask(call.masks, rows, keys, call.query.options().dtype(maskType(call.query, call.masks, flash)));
  at::Tensor query = call.query.narrow(2, rows.begin, rows.size()), key = call.key.narrow(2, keys.begin, keys.size());
  at::Tensor value = call.value.narrow(2, keys.begin, keys.size());
  return flash ? flashAttention(query, key, value, mask, /*causal=*/false, form.scale)
               : mathAttention(query, key, value, mask, form, rows, keys);
}

static Result emptyResult(const at::Tensor &query, const at::Tensor &value) {
  at::ScalarType type = accumulationType(query.scalar_type());
  int64_t batch = query.size(0), heads = query.size(1), rows = query.size(2);
  return {at::zeros({batch, heads, rows, value.size(3)}, query.options()),
          at::zeros({batch, heads, rows}, query.options().dtype(type))};
}

Result meshplan::attention(const AttentionCall &call) {
  const at::Tensor &query = call.query, &key = call.key, &value = call.value;
  const AttentionMasks &masks = call.masks;
  if (call.heads.perKey > 0) {
    AttentionCall whole = call;
    whole.key = headsRead(key, query.size(1), call.heads);
    whole.value = headsRead(value, query.size(1), call.heads);
    // Each query head has a key head of its own now. The first head stays, since dropout numbers the weights in the
    // whole tensor.
    whole.heads = {.first = call.heads.first};
    return attention(whole);
  }
  checkAttention(query, key, value, masks);
  AttentionForm form = attentionForm(call);
  if (query.numel() == 0 || key.size(2) == 0)
    return emptyResult(query, value);
  if (hasDeviceKernel(query, key, value, masks, form))
    return deviceAttention(query, key, value, masks, call.scale);
  // The kernel has its own causal mask and skips hidden blocks, so blocks of rows would only add overhead.
  if (masks.causalOnly() && hasFlashKernel(query, value, form))
    return flashAttention(query, key, value, std::nullopt, masks.causal, call.scale);
  int64_t rows = query.size(2);
  if (rows <= kernel_blocks::attentionRows)
    return attendBlock(call, form, {0, rows});
  auto [out, logsumexp] = emptyResult(query, value);
  for (int64_t row = 0; row < rows; row += kernel_blocks::attentionRows) {
    IndexSpan span{row, std::min(row + kernel_blocks::attentionRows, rows)};
    auto [blockOut, blockLogsumexp] = attendBlock(call, form, span);
    out.narrow(2, span.begin, span.size()).copy_(blockOut);
    logsumexp.narrow(2, span.begin, span.size()).copy_(blockLogsumexp);
  }
  return {out, logsumexp};
}
