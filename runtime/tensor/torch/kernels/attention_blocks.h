//===- attention_blocks.h - what attention and its gradient share -*- C++ -*-===//
//
// Both go in blocks of query rows, so that scores and additive masks of all rows
// never exist at once and keys outside of every row's reach are not visited.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_RUNTIME_TENSOR_TORCH_KERNELS_ATTENTION_BLOCKS_H
#define MESHPLAN_RUNTIME_TENSOR_TORCH_KERNELS_ATTENTION_BLOCKS_H

#include "runtime/tensor/torch/kernels/attention.h"

namespace meshplan {

/// Rows of queries that share one additive mask.
constexpr int64_t attentionBlockRows = 512;

/// Which weights of keys are dropped: those of [batch, heads, queries, keys] by their number in the whole tensor.
struct AttentionDropout {
  double probability = 0;
  RandomStream stream;
  int64_t firstSample = 0, firstHead = 0; ///< that the rank has
  int64_t heads = 0, rows = 0, keys = 0;  ///< of the whole tensor
};

/// What becomes of a product of query and key before it is masked, and of the weights that are made of it.
struct AttentionForm {
  double scale, softcap;
  AttentionDropout dropout;
};

struct IndexSpan {
  int64_t begin, end;
  int64_t size() const { return end - begin; }
};

AttentionForm attentionForm(const AttentionCall &call);

/// [B, H, rows, keys], the weights of a block or their gradient: drops what the call drops, and scales the others, in
/// place.
void dropWeights(at::Tensor &weights, const AttentionDropout &dropout, IndexSpan rows, IndexSpan keys);

/// Throws unless the shapes are as attention() says.
void checkAttention(const at::Tensor &query, const at::Tensor &key, const at::Tensor &value,
                    const AttentionMasks &masks);

/// Keys that some row of the block may reach; at least one, which the mask then hides. There are keys.
IndexSpan reachableKeys(IndexSpan rows, int64_t keys, const AttentionMasks &masks);

/// The rows and keys of a tensor of dims [.., S or 1, T or 1]: a view.
at::Tensor partOfMask(const at::Tensor &mask, IndexSpan rows, IndexSpan keys);

/// [1 or B, 1 or H, rows, keys] of the options' type: what is added to the scores of a block.
at::Tensor additiveMask(const AttentionMasks &masks, IndexSpan rows, IndexSpan keys, const at::TensorOptions &options);

/// Whether PyTorch has a kernel that never holds the scores of a whole block. It knows no softcap and drops nothing.
bool hasFlashKernel(const at::Tensor &query, const at::Tensor &value, AttentionForm form);

/// The flash kernels read strided heads and share key heads among query heads without copies; they need adjacent
/// elements in the last dim.
at::Tensor withAdjacentElements(const at::Tensor &tensor);

/// [B, G, T, D] to [B, H, T, D], for each of H query heads the key head that it reads: a copy.
at::Tensor headsRead(const at::Tensor &tensor, int64_t count, const AttentionHeads &heads);

/// [B, H, rows, keys]: cap(query key^T * scale) of operands of one type with as many heads; no mask yet.
at::Tensor cappedScores(const at::Tensor &query, const at::Tensor &key, AttentionForm form);

/// Turns each row of scores into its exponentials divided by their sum, in place, and gives the logarithm of the sum
/// [B, H, rows]. A row of minus infinity becomes zeros, and its logarithm zero.
at::Tensor softmaxInPlace(at::Tensor &scores);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_TENSOR_TORCH_KERNELS_ATTENTION_BLOCKS_H
