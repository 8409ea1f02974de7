//===- attention_gradient.cpp - gradients of attention --------------------===//
//
// PyTorch's flash kernel computes blocks whose weights exp(scores - logsumexp)
// are exact enough; the definition computes the others, and mask gradients.
//
//===----------------------------------------------------------------------===//

#include "runtime/tensor/torch/kernels/gradients/attention_gradient.h"
#include "runtime/tensor/torch/kernels/accumulation.h"
#include "runtime/tensor/torch/kernels/attention_blocks.h"
#include "runtime/tensor/torch/kernels/gradients/shared_heads.h"

#include <ATen/ATen.h>
#include <algorithm>

using namespace meshplan;

namespace {

/// Of all rows and keys, or of a block of them.
struct Operands {
  at::Tensor gradient, query, key, value, out, logsumexp;
};

struct Gradients {
  at::Tensor query, key, value;
};

/// A block by the definition: the weights that its values are multiplied by, and the gradient of its scores before and
/// after the cap.
struct Scores {
  at::Tensor weights, gradient, maskGradient;
};

/// Rows and keys of all.
struct BlockSpan {
  IndexSpan rows, keys;
};

} // namespace

static void checkOperands(const Operands &all, const AttentionMasks &masks) {
  checkAttention(all.query, all.key, all.value, masks);
  at::IntArrayRef query = all.query.sizes();
  TORCH_CHECK(all.gradient.sizes().equals({query[0], query[1], query[2], all.value.size(3)}) &&
                  all.out.sizes() == all.gradient.sizes() && all.logsumexp.sizes().equals(query.slice(0, 3)),
              "gradient ", all.gradient.sizes(), ", out ", all.out.sizes(), " and logsumexp ", all.logsumexp.sizes(),
              " do not fit query ", query, " and value ", all.value.sizes());
}

/// In the type of the computation.
static Operands blockOf(const Operands &all, IndexSpan rows, IndexSpan keys) {
  at::ScalarType type = accumulationType(all.query.scalar_type());
  auto row = [&](const at::Tensor &tensor) { return tensor.narrow(2, rows.begin, rows.size()).to(type); };
  auto key = [&](const at::Tensor &tensor) { return tensor.narrow(2, keys.begin, keys.size()).to(type); };
  return {row(all.gradient), row(all.query), key(all.key), key(all.value), row(all.out), row(all.logsumexp)};
}

/// The logarithm of a row of large numbers, such as a mask of -1e9 for all keys, has no digits left for the number of
/// keys: the weights that are recomputed from it would not add up to 1.
static bool hasExactLogarithms(const at::Tensor &logsumexp) {
  // Its rounding error in f32, and so the relative error of a weight, stays below 2^-14.
  constexpr double bound = 1024;
  return logsumexp.abs().max().item<double>() <= bound;
}

static Gradients flashGradients(const Operands &block, const std::optional<at::Tensor> &mask, bool causal,
                                double scale) {
  auto [query, key, value] = at::_scaled_dot_product_flash_attention_for_cpu_backward(
      block.gradient, withAdjacentElements(block.query), withAdjacentElements(block.key),
      withAdjacentElements(block.value), withAdjacentElements(block.out), block.logsumexp, 0.0, causal, mask, scale);
  return {query, key, value};
}

/// Key heads as often as query heads read them.
static at::Tensor repeated(const at::Tensor &tensor, const Operands &block) {
  int64_t repeats = block.query.size(1) / tensor.size(1);
  return repeats == 1 ? tensor : tensor.repeat_interleave(repeats, 1);
}

/// The gradient of a row's scores is its weights times what the gradients of these differ by from their mean: also
/// where weights are dropped, `gradient * out` is that mean.
static Scores scoresOf(const Operands &block, const at::Tensor &mask, const AttentionForm &form, BlockSpan span) {
  Scores scores;
  scores.weights = cappedScores(block.query, repeated(block.key, block), form);
  at::Tensor slope;
  if (form.softcap != 0)
    slope = scores.weights.div(form.softcap).square_().neg_().add_(1);
  scores.weights.add_(mask);
  softmaxInPlace(scores.weights);
  at::Tensor delta = block.gradient.mul(block.out).sum(3, /*keepdim=*/true);
  scores.maskGradient = at::matmul(block.gradient, repeated(block.value, block).transpose(2, 3));
  if (form.dropout.probability != 0)
    dropWeights(scores.maskGradient, form.dropout, span.rows, span.keys);
  scores.maskGradient.sub_(delta).mul_(scores.weights);
  if (form.dropout.probability != 0)
    dropWeights(scores.weights, form.dropout, span.rows, span.keys);
  scores.gradient = slope.defined() ? slope.mul_(scores.maskGradient) : scores.maskGradient;
  return scores;
}

static Gradients mathGradients(const Operands &block, const at::Tensor &mask, const AttentionForm &form,
                               BlockSpan span) {
  Scores scores = scoresOf(block, mask, form, span);
  auto ofKeyHeads = [&](const at::Tensor &tensor) {
    int64_t keyHeads = block.key.size(1), repeats = tensor.size(1) / keyHeads;
    return repeats == 1 ? tensor : sumSharedHeads(tensor, keyHeads, repeats);
  };
  at::Tensor value = ofKeyHeads(at::matmul(scores.weights.transpose(2, 3), block.gradient));
  at::Tensor query = at::matmul(scores.gradient, repeated(block.key, block)).mul_(form.scale);
  at::Tensor key = at::matmul(scores.gradient.transpose(2, 3), block.query).mul_(form.scale);
  return {query, ofKeyHeads(key), value};
}

/// Calls `visit` with the rows, the keys, the operands and the additive mask of each block.
template <typename Visit> static void forBlocks(const Operands &all, const AttentionMasks &masks, const Visit &visit) {
  int64_t rows = all.query.size(2);
  for (int64_t row = 0; row < rows; row += attentionBlockRows) {
    IndexSpan span{row, std::min(row + attentionBlockRows, rows)};
    IndexSpan keys = reachableKeys(span, all.key.size(2), masks);
    Operands block = blockOf(all, span, keys);
    visit(span, keys, block, additiveMask(masks, span, keys, block.query.options()));
  }
}

/// In the type of the computation; for key heads, sums over the query heads that share one.
static Gradients gradientsOf(const Operands &all, const AttentionMasks &masks, const AttentionForm &form) {
  at::TensorOptions options = all.query.options().dtype(accumulationType(all.query.scalar_type()));
  bool isEmpty = all.query.numel() == 0 || all.key.size(2) == 0;
  bool flash = !isEmpty && hasFlashKernel(all.query, all.value, form);
  if (flash && masks.causalOnly() && hasExactLogarithms(all.logsumexp))
    return flashGradients(blockOf(all, {0, all.query.size(2)}, {0, all.key.size(2)}), std::nullopt, masks.causal,
                          form.scale);
  Gradients sums{at::zeros(all.query.sizes(), options), at::zeros(all.key.sizes(), options),
                 at::zeros(all.value.sizes(), options)};
  if (isEmpty)
    return sums;
  forBlocks(all, masks, [&](IndexSpan rows, IndexSpan keys, const Operands &block, const at::Tensor &mask) {
    Gradients part = flash && hasExactLogarithms(block.logsumexp) ? flashGradients(block, mask, false, form.scale)
                                                                  : mathGradients(block, mask, form, {rows, keys});
    sums.query.narrow(2, rows.begin, rows.size()).copy_(part.query);
    sums.key.narrow(2, keys.begin, keys.size()).add_(part.key);
    sums.value.narrow(2, keys.begin, keys.size()).add_(part.value);
  });
  return sums;
}

std::tuple<at::Tensor, at::Tensor, at::Tensor> meshplan::attentionBackward(
    const at::Tensor &gradient, const at::Tensor &query, const at::Tensor &key, const at::Tensor &value,
    const at::Tensor &out, const at::Tensor &logsumexp, const std::optional<at::Tensor> &mask,
    const std::optional<at::Tensor> &keyMask, bool causal, int64_t window, double scale, double softcap, double dropout,
    int64_t headsPerKey, int64_t firstHead, int64_t firstKeyHead, bool perHead, const std::optional<at::Tensor> &seed,
    const std::optional<at::Tensor> &step, int64_t number, int64_t firstSample, int64_t allHeads,
    const std::optional<at::Tensor> &microbatch, int64_t drawn) {
  Operands all{gradient, query, key, value, out, logsumexp};
  AttentionMasks masks{mask, keyMask, causal, window};
  bool isWhole = headsPerKey == 0;
  if (isWhole)
    checkOperands(all, masks);
  int64_t heads = query.size(1), keyHeads = key.size(1);
  if (isWhole)
    headsPerKey = heads / keyHeads;
  int64_t first = isWhole ? 0 : firstHead - firstKeyHead * headsPerKey;
  // What is shared evenly needs no copies of key heads, and gets the sums of each.
  bool isEven = first == 0 && heads == keyHeads * headsPerKey, ofQueryHeads = perHead || !isEven;
  if (ofQueryHeads) {
    all.key = headsRead(key, heads, headsPerKey, first, 0);
    all.value = headsRead(value, heads, headsPerKey, first, 0);
  }
  checkOperands(all, masks);
  AttentionForm form{
      scale, softcap,
      attentionDropout(dropout, query, key, seed, step, number, firstSample, firstHead, allHeads, microbatch, drawn)};
  Gradients result = gradientsOf(all, masks, form);
  if (ofQueryHeads && !perHead) {
    result.key = sumSharedHeads(result.key, keyHeads, headsPerKey, first);
    result.value = sumSharedHeads(result.value, keyHeads, headsPerKey, first);
  }
  return {result.query.to(query.scalar_type()), result.key.to(key.scalar_type()), result.value.to(value.scalar_type())};
}

at::Tensor meshplan::attentionMaskGradient(const at::Tensor &gradient, const at::Tensor &query, const at::Tensor &key,
                                           const at::Tensor &value, const at::Tensor &out, const at::Tensor &logsumexp,
                                           const std::optional<at::Tensor> &mask,
                                           const std::optional<at::Tensor> &keyMask, bool causal, int64_t window,
                                           double scale, double softcap, double dropout, int64_t headsPerKey,
                                           int64_t firstHead, int64_t firstKeyHead,
                                           const std::optional<at::Tensor> &seed, const std::optional<at::Tensor> &step,
                                           int64_t number, int64_t firstSample, int64_t allHeads,
                                           const std::optional<at::Tensor> &microbatch, int64_t drawn) {
  TORCH_CHECK(mask && mask->is_floating_point(), "there is no mask of a floating type to have a gradient");
  Operands all{gradient, query, key, value, out, logsumexp};
  if (headsPerKey > 0) {
    all.key = headsRead(key, query.size(1), headsPerKey, firstHead, firstKeyHead);
    all.value = headsRead(value, query.size(1), headsPerKey, firstHead, firstKeyHead);
  }
  AttentionMasks masks{mask, keyMask, causal, window};
  checkOperands(all, masks);
  AttentionForm form{
      scale, softcap,
      attentionDropout(dropout, query, key, seed, step, number, firstSample, firstHead, allHeads, microbatch, drawn)};
  at::Tensor sums = at::zeros(mask->sizes(), mask->options().dtype(accumulationType(query.scalar_type())));
  if (query.numel() == 0 || key.size(2) == 0)
    return sums.to(mask->scalar_type());
  forBlocks(all, masks, [&](IndexSpan rows, IndexSpan keys, const Operands &block, const at::Tensor &additive) {
    at::Tensor part = partOfMask(sums, rows, keys);
    part.add_(scoresOf(block, additive, form, {rows, keys}).maskGradient.sum_to_size(part.sizes()));
  });
  return sums.to(mask->scalar_type());
}
