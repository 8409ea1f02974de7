//===- attention_gradient.cpp - gradients of attention --------------------===//
//
// The backward pass of attention, in tiles of scores. For one tile, with Q, K, V and dO the query, key, value and
// incoming gradient of its rows and keys, s the scale and M the masks:
//
//   S = cap(s Q K^T) + M              recomputed scores
//   P = softmax(S)                    recomputed weights
//   dP = dO V^T                       with dropout: dropped as P was
//   dS = P * (dP - rowsum(P * dP))    gradient of the mask; times the slope of cap: of the products
//   dV += P^T dO,  dK += s dS^T Q,  dQ = s dS K    with dropout: dV from the dropped P
//
// A tile has all keys that its rows reach, so P is complete and dQ is final, while dK and dV accumulate over the tiles
// of rows. P comes from a softmax of its own, not from exp(S - logsumexp) of the forward pass: there rounding errors
// would grow with the scores, and a row with a single key would have a nonzero gradient.
//
// Example on a CPU: 32 query heads, 8 key heads (4 share one), S = T = 2048. A tile has at most 2^17 scores per thread,
// so 4 heads x 2048 keys allow 16 rows; the minimum of 32 is used. With 4 threads a tile has 2 key heads: 8 x 32 x 2048
// scores.
//
//===----------------------------------------------------------------------===//

#include "runtime/tensor/torch/kernels/gradients/attention_gradient.h"
#include "runtime/tensor/torch/kernels/accumulation.h"
#include "runtime/tensor/torch/kernels/attention_blocks.h"
#include "runtime/tensor/torch/kernels/device_attention.h"
#include "runtime/tensor/torch/kernels/gradients/indexed_sums.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <algorithm>
#include <limits>

using namespace meshplan;

namespace {

struct Operands {
  at::Tensor gradient, query, key, value;
};

struct Gradients {
  at::Tensor query, key, value;
};

/// The part that is computed at a time: samples, key heads with the query heads that read them, rows and keys.
struct Tile {
  IndexSpan samples, keyHeads, rows, keys;
};

/// The operands of a tile, in the dtype of the computation. One matrix per key head: query and gradient have the rows
/// of all query heads that read it.
struct AttentionBlock {
  at::Tensor gradient, query, key, value;
};

/// [key heads, rows, keys]: the weights by which values are multiplied, and the gradient of the scores before the cap
/// and after it.
struct Scores {
  at::Tensor weights, gradient, maskGradient;
};

/// The mask that is added to the scores of rows, from the first of `keys` on, and the rows without visible keys.
/// Undefined if nothing is added, or there are no such rows.
struct RowMask {
  IndexSpan keys;
  at::Tensor added, hidden;
};

/// Computes the gradients of one call.
class AttentionTiles {
public:
  AttentionTiles(const Operands &all, const AttentionMasks &masks, const AttentionForm &form)
      : all(all), masks(masks), form(form), type(accumulationType(all.query.scalar_type())),
        repeats(all.query.size(1) / all.key.size(1)) {}

  /// The gradients of keys and values are in the dtype of the computation.
  Gradients gradients() const;
  at::Tensor maskGradient() const;

private:
  bool isEmpty() const { return all.query.numel() == 0 || all.key.size(2) == 0; }
  template <typename Visit> void forTiles(const Visit &visit) const;
  RowMask maskOf(IndexSpan rows, IndexSpan keys) const;
  AttentionBlock blockOf(const Tile &tile) const;
  Scores scoresOf(const AttentionBlock &block, const Tile &tile, const RowMask &mask) const;
  at::Tensor weightsOf(const AttentionBlock &block, const Tile &tile, const RowMask &mask, at::Tensor &slope) const;
  void drop(const at::Tensor &weights, const Tile &tile) const;

  /// The part of a tensor in a tile: [samples, key heads * count, length, ..].
  at::Tensor partOf(const at::Tensor &tensor, const Tile &tile, int64_t count, IndexSpan length) const;
  /// The same as one matrix per key head, in the dtype of the computation.
  at::Tensor matrices(const at::Tensor &tensor, const Tile &tile, int64_t count, IndexSpan length) const;
  /// Scores as [samples, query heads, rows, keys].
  at::Tensor byQueryHeads(const at::Tensor &scores, const Tile &tile) const;
  void add(const at::Tensor &sums, const Tile &tile, const at::Tensor &left, const at::Tensor &right,
           double factor) const;

  const Operands &all;
  const AttentionMasks &masks;
  const AttentionForm &form;
  at::ScalarType type;
  int64_t repeats; ///< number of query heads that read one key head
};

} // namespace

static void checkOperands(const Operands &all, const AttentionMasks &masks) {
  checkAttention(all.query, all.key, all.value, masks);
  at::IntArrayRef query = all.query.sizes();
  TORCH_CHECK(all.gradient.sizes().equals({query[0], query[1], query[2], all.value.size(3)}), "gradient ",
              all.gradient.sizes(), " does not fit query ", query, " and value ", all.value.sizes());
}

/// Number of scores in a tile. A GPU needs more to be busy.
static int64_t tileScores(const at::Tensor &query) { return query.is_cpu() ? kernel_blocks::tileScores : 1 << 24; }

/// Visits the tiles. Twin of compiler/sharding/record_support/attention_memory.cpp. The rows of a tile do not depend on
/// the number of threads, so sums over rows do not either.
template <typename Visit> void AttentionTiles::forTiles(const Visit &visit) const {
  constexpr int64_t leastRows = kernel_blocks::leastTileRows, mostRows = kernel_blocks::attentionRows;
  int64_t rows = all.query.size(2), keys = all.key.size(2), keyHeads = all.key.size(1), samples = all.key.size(0);
  int64_t most = tileScores(all.query), threads = all.query.is_cpu() ? at::get_num_threads() : 1;
  // A bound for a tile of any number of rows, so that the number of rows follows from it and is the same for all tiles.
  int64_t reach = masks.window > 0 ? std::min(keys, masks.window + mostRows) : keys;
  int64_t rowStep = std::clamp(most / (repeats * reach), leastRows, mostRows);
  for (int64_t row = 0; row < rows; row += rowStep) {
    IndexSpan span{row, std::min(row + rowStep, rows)}, reached = reachableKeys(span, keys, masks);
    RowMask mask = maskOf(span, reached);
    int64_t scores = repeats * span.size() * reached.size();
    int64_t headStep = std::clamp<int64_t>(most * threads / scores, 1, keyHeads);
    // Tiles with several samples copy operands, which pays only for small ones.
    int64_t sampleStep = headStep < keyHeads ? 1 : std::clamp<int64_t>(most / 8 / (scores * keyHeads), 1, samples);
    for (int64_t sample = 0; sample < samples; sample += sampleStep)
      for (int64_t head = 0; head < keyHeads; head += headStep)
        visit(Tile{{sample, std::min(sample + sampleStep, samples)},
                   {head, std::min(head + headStep, keyHeads)},
                   span,
                   reached},
              mask);
  }
}

RowMask AttentionTiles::maskOf(IndexSpan rows, IndexSpan keys) const {
  RowMask mask{keys, {}, {}};
  // In a causal row without other masks, only keys from the row on can be hidden, and never all.
  if (masks.causalOnly())
    mask.keys.begin = masks.causal ? std::min(rows.begin, keys.end) : keys.end;
  if (mask.keys.size() == 0)
    return mask;
  mask.added = additiveMask(masks, rows, mask.keys, all.query.options().dtype(type));
  if (masks.causalOnly())
    return mask;
  at::Tensor hidden = mask.added.amax(3, /*keepdim=*/true).eq(-std::numeric_limits<double>::infinity());
  if (hidden.any().item<bool>())
    mask.hidden = hidden;
  return mask;
}

static at::Tensor narrowed(const at::Tensor &tensor, int64_t dim, IndexSpan span) {
  return tensor.size(dim) == 1 ? tensor : tensor.narrow(dim, span.begin, span.size());
}

at::Tensor AttentionTiles::partOf(const at::Tensor &tensor, const Tile &tile, int64_t count, IndexSpan length) const {
  return tensor.narrow(0, tile.samples.begin, tile.samples.size())
      .narrow(1, tile.keyHeads.begin * count, tile.keyHeads.size() * count)
      .narrow(2, length.begin, length.size());
}

at::Tensor AttentionTiles::matrices(const at::Tensor &tensor, const Tile &tile, int64_t count, IndexSpan length) const {
  at::Tensor part = partOf(tensor, tile, count, length);
  if (part.scalar_type() != type)
    part = part.to(type, /*non_blocking=*/false, /*copy=*/false, at::MemoryFormat::Contiguous);
  return part.reshape({tile.samples.size() * tile.keyHeads.size(), count * length.size(), tensor.size(3)});
}

at::Tensor AttentionTiles::byQueryHeads(const at::Tensor &scores, const Tile &tile) const {
  return scores.view({tile.samples.size(), tile.keyHeads.size() * repeats, tile.rows.size(), tile.keys.size()});
}

AttentionBlock AttentionTiles::blockOf(const Tile &tile) const {
  return {matrices(all.gradient, tile, repeats, tile.rows), matrices(all.query, tile, repeats, tile.rows),
          matrices(all.key, tile, 1, tile.keys), matrices(all.value, tile, 1, tile.keys)};
}

void AttentionTiles::drop(const at::Tensor &weights, const Tile &tile) const {
  if (form.dropout.probability == 0)
    return;
  AttentionDropout own = form.dropout;
  own.firstSample += tile.samples.begin;
  own.firstHead += tile.keyHeads.begin * repeats;
  at::Tensor dropped = byQueryHeads(weights, tile);
  dropWeights(dropped, own, tile.rows, tile.keys);
}

/// The weights of the softmax, before dropout. `slope` becomes the derivative of the cap, if there is one.
at::Tensor AttentionTiles::weightsOf(const AttentionBlock &block, const Tile &tile, const RowMask &mask,
                                     at::Tensor &slope) const {
  at::Tensor weights = at::empty({block.query.size(0), block.query.size(1), block.key.size(1)}, block.query.options());
  at::bmm_out(weights, block.query, block.key.transpose(1, 2));
  // Scaled after the product: scaled operands would be rounded, and the sum may be small compared with its terms.
  weights.mul_(form.scale);
  if (form.softcap != 0) {
    weights.div_(form.softcap).tanh_();
    slope = weights.square().neg_().add_(1);
    weights.mul_(form.softcap);
  }
  at::Tensor rows = byQueryHeads(weights, tile);
  IndexSpan heads{tile.keyHeads.begin * repeats, tile.keyHeads.end * repeats};
  auto ofTile = [&](const at::Tensor &of) { return narrowed(narrowed(of, 0, tile.samples), 1, heads); };
  if (mask.added.defined())
    rows.narrow(3, mask.keys.begin - tile.keys.begin, mask.keys.size()).add_(ofTile(mask.added));
  at::_softmax_out(weights, weights, 2, /*half_to_float=*/false);
  if (mask.hidden.defined())
    rows.masked_fill_(ofTile(mask.hidden), 0);
  return weights;
}

Scores AttentionTiles::scoresOf(const AttentionBlock &block, const Tile &tile, const RowMask &mask) const {
  Scores scores;
  at::Tensor slope;
  scores.weights = weightsOf(block, tile, mask, slope);
  // dP of the overview; the next steps turn it into dS in the same memory, because a tile has room for two tensors of
  // scores.
  scores.maskGradient = at::bmm(block.gradient, block.value.transpose(1, 2));
  drop(scores.maskGradient, tile);
  at::_softmax_backward_data_out(scores.maskGradient, scores.maskGradient, scores.weights, 2, type);
  // Only now: the backward pass of the softmax needs the weights before dropout, the product for the values those after
  // it.
  drop(scores.weights, tile);
  scores.gradient = slope.defined() ? slope.mul_(scores.maskGradient) : scores.maskGradient;
  return scores;
}

/// Accumulates products of two lists of matrices into the sums [samples, key heads, keys, ..].
void AttentionTiles::add(const at::Tensor &sums, const Tile &tile, const at::Tensor &left, const at::Tensor &right,
                         double factor) const {
  at::Tensor part = partOf(sums, tile, 1, tile.keys);
  if (tile.samples.size() == 1)
    part.squeeze(0).baddbmm_(left, right, /*beta=*/1, factor);
  else
    part.add_(at::bmm(left, right).view(part.sizes()), factor);
}

/// Zeros with the heads of a row adjacent, which is the layout of the projections' operands and results.
static at::Tensor zerosByRows(at::IntArrayRef sizes, const at::TensorOptions &options) {
  return at::zeros({sizes[0], sizes[2], sizes[1], sizes[3]}, options).transpose(1, 2);
}

Gradients AttentionTiles::gradients() const {
  at::TensorOptions options = all.query.options();
  Gradients sums{zerosByRows(all.query.sizes(), options), zerosByRows(all.key.sizes(), options.dtype(type)),
                 zerosByRows(all.value.sizes(), options.dtype(type))};
  if (isEmpty())
    return sums;
  forTiles([&](const Tile &tile, const RowMask &mask) {
    AttentionBlock block = blockOf(tile);
    Scores scores = scoresOf(block, tile, mask);
    add(sums.value, tile, scores.weights.transpose(1, 2), block.gradient, 1);
    add(sums.key, tile, scores.gradient.transpose(1, 2), block.query, form.scale);
    // Each row of queries belongs to one tile only, so its gradient is written once. Keys and values gather addends of
    // all tiles.
    at::Tensor query = partOf(sums.query, tile, repeats, tile.rows);
    query.copy_(at::bmm(scores.gradient, block.key).mul_(form.scale).view(query.sizes()));
  });
  return sums;
}

at::Tensor AttentionTiles::maskGradient() const {
  at::Tensor sums = at::zeros(masks.mask->sizes(), masks.mask->options().dtype(type));
  if (isEmpty())
    return sums;
  forTiles([&](const Tile &tile, const RowMask &mask) {
    at::Tensor part = partOfMask(sums, tile.rows, tile.keys);
    part = narrowed(part, 0, tile.samples);
    part = narrowed(part, 1, {tile.keyHeads.begin * repeats, tile.keyHeads.end * repeats});
    Scores scores = scoresOf(blockOf(tile), tile, mask);
    part.add_(byQueryHeads(scores.maskGradient, tile).sum_to_size(part.sizes()));
  });
  return sums;
}

/// The gradients of keys and values are in the dtype of the computation, unless one fused kernel computes the sums.
static Gradients gradientsOf(const Operands &all, const AttentionMasks &masks, const AttentionForm &form,
                             const std::optional<at::Tensor> &out, const std::optional<at::Tensor> &logsumexp) {
  if (!hasDeviceKernel(all.query, all.key, all.value, masks, form))
    return AttentionTiles(all, masks, form).gradients();
  auto [query, key, value] =
      deviceAttentionBackward(all.gradient, all.query, all.key, all.value, masks, form.scale, out, logsumexp);
  return {query, key, value};
}

std::tuple<at::Tensor, at::Tensor, at::Tensor> meshplan::attentionBackward(const at::Tensor &gradient,
                                                                           const AttentionCall &call, bool perHead,
                                                                           const std::optional<at::Tensor> &out,
                                                                           const std::optional<at::Tensor> &logsumexp) {
  Operands all{gradient, call.query, call.key, call.value};
  bool isWhole = call.heads.perKey == 0;
  if (isWhole)
    checkOperands(all, call.masks);
  int64_t count = call.query.size(1), keyHeads = call.key.size(1);
  // Counted from the rank's first key head. Example: 3 query heads share a key head, and the rank holds query heads 5
  // and 6 and key heads 1 and 2. Its first key head begins at query head 3, so its query heads are 2 and 3, and read
  // its key heads 0 and 1.
  AttentionHeads heads{isWhole ? count / keyHeads : call.heads.perKey};
  heads.first = isWhole ? 0 : call.heads.first - call.heads.firstKey * heads.perKey;
  // If every key head is shared evenly, no copies of key heads are needed, and gradients accumulate per key head.
  bool isEven = heads.first == 0 && count == keyHeads * heads.perKey, ofQueryHeads = perHead || !isEven;
  if (ofQueryHeads) {
    all.key = headsRead(call.key, count, heads);
    all.value = headsRead(call.value, count, heads);
  }
  checkOperands(all, call.masks);
  AttentionForm form = attentionForm(call);
  Gradients result = gradientsOf(all, call.masks, form, out, logsumexp);
  if (ofQueryHeads && !perHead) {
    result.key = sumSharedHeads(result.key, keyHeads, heads.perKey, heads.first);
    result.value = sumSharedHeads(result.value, keyHeads, heads.perKey, heads.first);
  }
  return {result.query.to(call.query.scalar_type()), result.key.to(call.key.scalar_type()),
          result.value.to(call.value.scalar_type())};
}

at::Tensor meshplan::attentionMaskGradient(const at::Tensor &gradient, const AttentionCall &call) {
  const std::optional<at::Tensor> &mask = call.masks.mask;
  TORCH_CHECK(mask && mask->is_floating_point(), "there is no mask of a floating type to have a gradient");
  Operands all{gradient, call.query, call.key, call.value};
  if (call.heads.perKey > 0) {
    all.key = headsRead(call.key, call.query.size(1), call.heads);
    all.value = headsRead(call.value, call.query.size(1), call.heads);
  }
  checkOperands(all, call.masks);
  AttentionForm form = attentionForm(call);
  return AttentionTiles(all, call.masks, form).maskGradient().to(mask->scalar_type());
}
