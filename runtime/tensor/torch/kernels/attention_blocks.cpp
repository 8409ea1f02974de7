//===- attention_blocks.cpp - parts of attention and its gradient ---------===//
//
// Why blocks of rows? A causal mask with a window as a tensor would have as many elements as one head's scores: for
// 4096 positions 64 MiB in f32. A block of 512 rows needs 8 MiB at a time, and with a window fewer, since keys outside
// of the block's reach are left out.
//
// A row without visible keys has scores of minus infinity only. Its softmax would be NaN twice over, by (-inf) - (-inf)
// and by 0 / 0. It is defined as zeros, with a logsumexp of zero, so that such rows add nothing to any gradient.
//
//===----------------------------------------------------------------------===//

#include "runtime/tensor/torch/kernels/attention_blocks.h"

#include <ATen/ATen.h>
#include <algorithm>
#include <limits>

using namespace meshplan;

static constexpr double minusInfinity = -std::numeric_limits<double>::infinity();

/// True if both have the same number of dims, each equal or 1.
static bool isBroadcastTo(const at::Tensor &tensor, at::IntArrayRef shape) {
  return std::ranges::equal(tensor.sizes(), shape,
                            [](int64_t size, int64_t full) { return size == full || size == 1; });
}

void meshplan::checkAttention(const at::Tensor &query, const at::Tensor &key, const at::Tensor &value,
                              const AttentionMasks &masks) {
  TORCH_CHECK(query.dim() == 4 && key.dim() == 4 && value.dim() == 4, "query, key and value must have 4 dims");
  bool matches = query.size(0) == key.size(0) && query.size(3) == key.size(3) && key.size(0) == value.size(0) &&
                 key.size(1) == value.size(1) && key.size(2) == value.size(2);
  TORCH_CHECK(matches && key.size(1) > 0 && query.size(1) % key.size(1) == 0, "query ", query.sizes(), ", key ",
              key.sizes(), " and value ", value.sizes(), " do not match");
  TORCH_CHECK(!masks.mask || isBroadcastTo(*masks.mask, {query.size(0), query.size(1), query.size(2), key.size(2)}),
              "mask ", masks.mask->sizes(), " does not fit query ", query.sizes(), " and key ", key.sizes());
  TORCH_CHECK(!masks.keyMask || masks.keyMask->sizes().equals({key.size(0), key.size(2)}), "key_mask ",
              masks.keyMask->sizes(), " does not fit key ", key.sizes());
  TORCH_CHECK(masks.window >= 0, "window must not be negative, it is ", masks.window);
}

IndexSpan meshplan::reachableKeys(IndexSpan rows, int64_t keys, const AttentionMasks &masks) {
  // A row reaches no key after itself (causal) and none more than a window before it. Example: rows 512-1023 of 1024,
  // causal, with a window of 256. Row 1023 reaches key 1023, and row 512 keys 257 to 512, so the block reads keys
  // 257-1023.
  int64_t end = masks.causal ? std::min(keys, rows.end) : keys;
  int64_t begin = masks.window > 0 ? std::clamp<int64_t>(rows.begin - masks.window + 1, 0, end - 1) : 0;
  return {begin, end};
}

/// A range of a mask dim, which has the whole extent or 1.
static at::Tensor part(const at::Tensor &mask, int64_t dim, IndexSpan span) {
  return mask.size(dim) == 1 ? mask : mask.narrow(dim, span.begin, span.size());
}

at::Tensor meshplan::partOfMask(const at::Tensor &mask, IndexSpan rows, IndexSpan keys) {
  return part(part(mask, 2, rows), 3, keys);
}

at::Tensor meshplan::additiveMask(const AttentionMasks &masks, IndexSpan rows, IndexSpan keys,
                                  const at::TensorOptions &options) {
  // Masks that do not depend on sample and head have size 1 there, which saves memory.
  at::Tensor result = at::zeros({1, 1, rows.size(), keys.size()}, options);
  at::TensorOptions integers = options.dtype(at::kLong);
  if (masks.causal || masks.window > 0) {
    // distance = query position - key position.
    at::Tensor distance = at::arange(rows.begin, rows.end, integers).unsqueeze(1) -
                          at::arange(keys.begin, keys.end, integers).unsqueeze(0);
    if (masks.causal)
      result.masked_fill_(distance.lt(0), minusInfinity);
    if (masks.window > 0)
      result.masked_fill_(distance.ge(masks.window), minusInfinity);
  }
  // Not in place: with a mask for each sample the result has more elements than before.
  if (masks.keyMask)
    result = result.masked_fill(
        masks.keyMask->narrow(1, keys.begin, keys.size()).logical_not().unsqueeze(1).unsqueeze(1), minusInfinity);
  if (masks.mask) {
    at::Tensor mask = partOfMask(*masks.mask, rows, keys);
    result = mask.scalar_type() == at::kBool ? result.masked_fill(mask.logical_not(), minusInfinity)
                                             : result.add(mask.to(options.dtype()));
  }
  return result;
}

bool meshplan::hasFlashKernel(const at::Tensor &query, const at::Tensor &value, AttentionForm form) {
  return query.is_cpu() && query.size(3) == value.size(3) && query.numel() > 0 && value.numel() > 0 &&
         form.softcap == 0 && form.dropout.probability == 0;
}

AttentionForm meshplan::attentionForm(const AttentionCall &call) {
  AttentionForm form{call.scale, call.softcap, {}};
  if (call.dropout == 0)
    return form;
  TORCH_CHECK(call.dropout > 0 && call.dropout <= 1, "a probability of ", call.dropout, " is not between 0 and 1");
  TORCH_CHECK(call.draws.seed && call.draws.step, "attention with dropout needs a seed and a step");
  form.dropout = {call.dropout,
                  randomStream(call.draws),
                  call.firstSample,
                  call.heads.first,
                  call.allHeads == 0 ? call.query.size(1) : call.allHeads,
                  call.query.size(2),
                  call.key.size(2)};
  return form;
}

void meshplan::dropWeights(at::Tensor &weights, const AttentionDropout &dropout, IndexSpan rows, IndexSpan keys) {
  // Numbered in the whole tensor, so that all shardings and blocks drop the same elements. The outermost extent has no
  // influence on the numbers; it only has to contain the part.
  int64_t offset[] = {dropout.firstSample, dropout.firstHead, rows.begin, keys.begin};
  int64_t whole[] = {dropout.firstSample + weights.size(0), dropout.heads, dropout.rows, dropout.keys};
  PartOfWhole part(weights.sizes(), whole, offset);
  if (weights.is_cpu() && weights.is_contiguous())
    dropInto(weights, weights, part, dropout.probability, dropout.stream);
  else
    weights.copy_(dropByOperators(weights, part, dropout.probability, dropout.stream));
}

at::Tensor meshplan::withAdjacentElements(const at::Tensor &tensor) {
  return tensor.stride(3) == 1 ? tensor : tensor.contiguous();
}

at::Tensor meshplan::headsRead(const at::Tensor &tensor, int64_t count, const AttentionHeads &heads) {
  // Example: 3 query heads share a key head, and the rank holds query heads 5 and 6 and key heads 1 and 2. Head 5 reads
  // 5 / 3 - 1 = 0, head 6 reads 6 / 3 - 1 = 1.
  at::Tensor head = at::arange(heads.first, heads.first + count, tensor.options().dtype(at::kLong));
  return tensor.index_select(1, head.div(heads.perKey, "floor").sub_(heads.firstKey));
}

at::Tensor meshplan::cappedScores(const at::Tensor &query, const at::Tensor &key, AttentionForm form) {
  at::Tensor scores = at::matmul(query.mul(form.scale), key.transpose(2, 3));
  if (form.softcap != 0)
    // In place: scores are the largest tensors of attention.
    scores.div_(form.softcap).tanh_().mul_(form.softcap);
  return scores;
}

at::Tensor meshplan::softmaxInPlace(at::Tensor &scores) {
  // Shifted by the maximum. So a row with nothing but the lowest number of the dtype is a uniform distribution.
  at::Tensor max = scores.amax(3, /*keepdim=*/true);
  // Infinity minus infinity would be NaN.
  max.masked_fill_(max.eq(minusInfinity), 0);
  scores.sub_(max).exp_();
  at::Tensor sum = scores.sum(3, /*keepdim=*/true);
  // A row without visible keys: 0 / 0 would be NaN, but PyTorch returns zeros.
  at::Tensor hidden = sum.eq(0);
  sum.masked_fill_(hidden, 1);
  scores.div_(sum);
  return max.add_(sum.log_()).masked_fill_(hidden, 0).squeeze(3);
}
