//===- attention.cpp - scaled dot product attention -----------------------===//
//
// Without masks other than `causal` the whole call goes to PyTorch's flash
// kernel. With masks it goes in blocks of query rows, so that the additive mask
// is small and keys outside of every row's reach are not visited. The flash
// kernel knows no softcap.
//
//===----------------------------------------------------------------------===//

#include "runtime/tensor/torch/kernels/attention.h"

#include <ATen/ATen.h>
#include <algorithm>
#include <limits>

using namespace meshplan;

using Result = std::tuple<at::Tensor, at::Tensor>;

/// Rows of queries that share one additive mask.
static constexpr int64_t blockRows = 512;

static constexpr double minusInfinity = -std::numeric_limits<double>::infinity();

namespace {

struct Masks {
  const std::optional<at::Tensor> &mask, &keyMask;
  bool causal;
  int64_t window;

  bool causalOnly() const { return !mask && !keyMask && window == 0; }
};

/// What becomes of a product of query and key before it is masked.
struct Scores {
  double scale, softcap;
};

struct Span {
  int64_t begin, end;
  int64_t size() const { return end - begin; }
};

} // namespace

/// The same number of dims, each equal or 1.
static bool isBroadcastTo(const at::Tensor &tensor, at::IntArrayRef shape) {
  return std::ranges::equal(tensor.sizes(), shape,
                            [](int64_t size, int64_t full) { return size == full || size == 1; });
}

static void checkShapes(const at::Tensor &query, const at::Tensor &key, const at::Tensor &value, const Masks &masks,
                        double dropout) {
  TORCH_CHECK(query.dim() == 4 && key.dim() == 4 && value.dim() == 4, "query, key and value must have 4 dims");
  bool matches = query.size(0) == key.size(0) && query.size(3) == key.size(3) && key.size(0) == value.size(0) &&
                 key.size(1) == value.size(1) && key.size(2) == value.size(2);
  TORCH_CHECK(matches && key.size(1) > 0 && query.size(1) % key.size(1) == 0, "query ", query.sizes(), ", key ",
              key.sizes(), " and value ", value.sizes(), " do not belong together");
  TORCH_CHECK(!masks.mask || isBroadcastTo(*masks.mask, {query.size(0), query.size(1), query.size(2), key.size(2)}),
              "mask ", masks.mask->sizes(), " does not fit query ", query.sizes(), " and key ", key.sizes());
  TORCH_CHECK(!masks.keyMask || masks.keyMask->sizes().equals({key.size(0), key.size(2)}), "key_mask ",
              masks.keyMask->sizes(), " does not fit key ", key.sizes());
  TORCH_CHECK(masks.window >= 0, "window must not be negative, it is ", masks.window);
  TORCH_CHECK_NOT_IMPLEMENTED(dropout == 0, "attention with dropout ", dropout, " is not supported");
}

/// Keys that some row of the block may reach; at least one, which the mask then hides.
static Span reachableKeys(Span rows, int64_t keys, const Masks &masks) {
  int64_t end = masks.causal ? std::min(keys, rows.end) : keys;
  int64_t begin = masks.window > 0 ? std::clamp<int64_t>(rows.begin - masks.window + 1, 0, end - 1) : 0;
  return {begin, end};
}

/// Part of a mask dim, which is whole or 1.
static at::Tensor part(const at::Tensor &mask, int64_t dim, Span span) {
  return mask.size(dim) == 1 ? mask : mask.narrow(dim, span.begin, span.size());
}

/// [1 or B, 1 or H, rows, keys]: what is added to the scores of a block.
static at::Tensor additiveMask(const Masks &masks, Span rows, Span keys, const at::TensorOptions &options) {
  at::Tensor result = at::zeros({1, 1, rows.size(), keys.size()}, options);
  at::TensorOptions integers = options.dtype(at::kLong);
  if (masks.causal || masks.window > 0) {
    at::Tensor distance = at::arange(rows.begin, rows.end, integers).unsqueeze(1) -
                          at::arange(keys.begin, keys.end, integers).unsqueeze(0);
    if (masks.causal)
      result.masked_fill_(distance.lt(0), minusInfinity);
    if (masks.window > 0)
      result.masked_fill_(distance.ge(masks.window), minusInfinity);
  }
  if (masks.keyMask)
    result = result.masked_fill(
        masks.keyMask->narrow(1, keys.begin, keys.size()).logical_not().unsqueeze(1).unsqueeze(1), minusInfinity);
  if (masks.mask) {
    at::Tensor mask = part(part(*masks.mask, 2, rows), 3, keys);
    result = mask.scalar_type() == at::kBool ? result.masked_fill(mask.logical_not(), minusInfinity)
                                             : result.add(mask.to(options.dtype()));
  }
  return result;
}

static bool hasFlashKernel(const at::Tensor &query, const at::Tensor &value, Scores scores) {
  return query.is_cpu() && query.size(3) == value.size(3) && query.numel() > 0 && value.numel() > 0 &&
         scores.softcap == 0;
}

/// The additive mask of a block has the digits of the given one: in fewer its lowest number would be infinite, and a
/// row of nothing else would be one of hidden keys.
static at::ScalarType maskType(const at::Tensor &query, const Masks &masks, bool flash) {
  if (!flash)
    return at::kDouble;
  bool isWider = masks.mask && masks.mask->is_floating_point() && masks.mask->element_size() > query.element_size();
  return isWider ? masks.mask->scalar_type() : query.scalar_type();
}

/// The flash kernel reads strided heads and shares key heads among query heads without copies; it needs adjacent
/// elements in the last dim.
static at::Tensor withAdjacentElements(const at::Tensor &tensor) {
  return tensor.stride(3) == 1 ? tensor : tensor.contiguous();
}

static Result flashAttention(const at::Tensor &query, const at::Tensor &key, const at::Tensor &value,
                             const std::optional<at::Tensor> &mask, bool causal, double scale) {
  return at::_scaled_dot_product_flash_attention_for_cpu(withAdjacentElements(query), withAdjacentElements(key),
                                                         withAdjacentElements(value), 0.0, causal, mask, scale);
}

/// The definition, in f32 for half types, for shapes and devices without a flash kernel.
static Result mathAttention(const at::Tensor &query, const at::Tensor &key, const at::Tensor &value,
                            const at::Tensor &mask, Scores form) {
  at::ScalarType type = query.scalar_type() == at::kDouble ? at::kDouble : at::kFloat;
  int64_t repeats = query.size(1) / key.size(1);
  auto shared = [&](const at::Tensor &tensor) {
    return repeats == 1 ? tensor.to(type) : tensor.to(type).repeat_interleave(repeats, 1);
  };
  at::Tensor scores = at::matmul(query.to(type).mul(form.scale), shared(key).transpose(2, 3));
  if (form.softcap != 0)
    scores.div_(form.softcap).tanh_().mul_(form.softcap);
  scores.add_(mask.to(type));
  // Shifted by the maximum, so that a row of nothing but the lowest number is an even distribution.
  at::Tensor max = scores.amax(3, /*keepdim=*/true);
  max.masked_fill_(max.eq(minusInfinity), 0);
  at::Tensor weights = scores.sub_(max).exp_();
  at::Tensor sum = weights.sum(3, /*keepdim=*/true);
  at::Tensor hidden = sum.eq(0);
  sum.masked_fill_(hidden, 1);
  weights.div_(sum);
  at::Tensor logsumexp = max.add_(sum.log_()).masked_fill_(hidden, 0).squeeze(3);
  return {at::matmul(weights, shared(value)).to(query.scalar_type()), logsumexp};
}

static Result attendBlock(const at::Tensor &query, const at::Tensor &key, const at::Tensor &value, const Masks &masks,
                          Span rows, Scores scores) {
  Span keys = reachableKeys(rows, key.size(2), masks);
  bool flash = hasFlashKernel(query, value, scores);
  at::Tensor mask = additiveMask(masks, rows, keys, query.options().dtype(maskType(query, masks, flash)));
  at::Tensor blockQuery = query.narrow(2, rows.begin, rows.size());
  at::Tensor blockKey = key.narrow(2, keys.begin, keys.size()), blockValue = value.narrow(2, keys.begin, keys.size());
  return flash ? flashAttention(blockQuery, blockKey, blockValue, mask, /*causal=*/false, scores.scale)
               : mathAttention(blockQuery, blockKey, blockValue, mask, scores);
}

static Result emptyResult(const at::Tensor &query, const at::Tensor &value) {
  at::ScalarType type = query.scalar_type() == at::kDouble ? at::kDouble : at::kFloat;
  int64_t batch = query.size(0), heads = query.size(1), rows = query.size(2);
  return {at::zeros({batch, heads, rows, value.size(3)}, query.options()),
          at::zeros({batch, heads, rows}, query.options().dtype(type))};
}

/// The key heads that the query heads read, one for each.
static at::Tensor headsRead(const at::Tensor &tensor, int64_t heads, int64_t headsPerKey, int64_t firstHead,
                            int64_t firstKeyHead) {
  at::Tensor head = at::arange(firstHead, firstHead + heads, tensor.options().dtype(at::kLong));
  return tensor.index_select(1, head.div(headsPerKey, "floor").sub_(firstKeyHead));
}

Result meshplan::attention(const at::Tensor &query, const at::Tensor &key, const at::Tensor &value,
                           const std::optional<at::Tensor> &mask, const std::optional<at::Tensor> &keyMask, bool causal,
                           int64_t window, double scale, double softcap, double dropout, int64_t headsPerKey,
                           int64_t firstHead, int64_t firstKeyHead) {
  if (headsPerKey > 0) {
    auto read = [&](const at::Tensor &tensor) {
      return headsRead(tensor, query.size(1), headsPerKey, firstHead, firstKeyHead);
    };
    return attention(query, read(key), read(value), mask, keyMask, causal, window, scale, softcap, dropout);
  }
  Masks masks{mask, keyMask, causal, window};
  Scores scores{scale, softcap};
  checkShapes(query, key, value, masks, dropout);
  if (query.numel() == 0 || key.size(2) == 0)
    return emptyResult(query, value);
  if (masks.causalOnly() && hasFlashKernel(query, value, scores))
    return flashAttention(query, key, value, std::nullopt, causal, scale);
  int64_t rows = query.size(2);
  if (rows <= blockRows)
    return attendBlock(query, key, value, masks, {0, rows}, scores);
  auto [out, logsumexp] = emptyResult(query, value);
  for (int64_t row = 0; row < rows; row += blockRows) {
    Span span{row, std::min(row + blockRows, rows)};
    auto [blockOut, blockLogsumexp] = attendBlock(query, key, value, masks, span, scores);
    out.narrow(2, span.begin, span.size()).copy_(blockOut);
    logsumexp.narrow(2, span.begin, span.size()).copy_(blockLogsumexp);
  }
  return {out, logsumexp};
}
