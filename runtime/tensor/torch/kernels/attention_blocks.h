//===- attention_blocks.h - parts of attention and its gradient -*- C++ -*-===//
//
// What attention and its gradient share. Both work in blocks of query rows, so that the scores and additive masks of
// all rows never exist at once and unreachable keys are not visited.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_RUNTIME_TENSOR_TORCH_KERNELS_ATTENTION_BLOCKS_H
#define MESHPLAN_RUNTIME_TENSOR_TORCH_KERNELS_ATTENTION_BLOCKS_H

#include "runtime/schema/kernel_blocks.h"
#include "runtime/tensor/torch/kernels/attention.h"

namespace meshplan {

/// Which attention weights are dropped: the weights [batch, heads, queries, keys] by their number in the whole tensor.
struct AttentionDropout {
  double probability = 0;
  RandomStream stream;
  int64_t firstSample = 0, firstHead = 0; ///< the first ones that the rank holds
  int64_t heads = 0, rows = 0, keys = 0;  ///< extents of the whole tensor
};

/// What is applied to the products of query and key before the mask, and to the weights.
struct AttentionForm {
  double scale, softcap;
  AttentionDropout dropout;
};

struct IndexSpan {
  int64_t begin, end;
  int64_t size() const { return end - begin; }
};

/// The form of a call. Its dropout has a probability of 0 if the call has none.
AttentionForm attentionForm(const AttentionCall &call);

/// Applies the dropout of the call, in place, to [B, H, rows, keys]: the weights of a block or their gradient.
void dropWeights(at::Tensor &weights, const AttentionDropout &dropout, IndexSpan rows, IndexSpan keys);

/// Throws unless the shapes are as AttentionCall says.
void checkAttention(const at::Tensor &query, const at::Tensor &key, const at::Tensor &value,
                    const AttentionMasks &masks);

/// The keys that some row of the block reaches; at least one, which the mask may hide. Precondition: there are keys.
IndexSpan reachableKeys(IndexSpan rows, int64_t keys, const AttentionMasks &masks);

/// A view of the rows and keys of a tensor of dims [.., S or 1, T or 1].
at::Tensor partOfMask(const at::Tensor &mask, IndexSpan rows, IndexSpan keys);

/// The additive mask of a block, [1 or B, 1 or H, rows, keys], with the dtype of the options.
at::Tensor additiveMask(const AttentionMasks &masks, IndexSpan rows, IndexSpan keys, const at::TensorOptions &options);

/// True if PyTorch has a kernel that never holds the scores of a whole block. It supports neither softcap nor dropout.
bool hasFlashKernel(const at::Tensor &query, const at::Tensor &value, AttentionForm form);

/// The flash kernels take strided heads and share key heads among query heads without copies. They require adjacent
/// elements in the last dim.
at::Tensor withAdjacentElements(const at::Tensor &tensor);

/// Expands [B, G, T, D] to [B, H, T, D]: a copy of the key head for each of `count` query heads, assigned as in
/// AttentionHeads. Precondition: heads.perKey > 0.
at::Tensor headsRead(const at::Tensor &tensor, int64_t count, const AttentionHeads &heads);

/// [B, H, rows, keys]: cap(query key^T * scale), without mask. The operands have the same dtype and number of heads.
at::Tensor cappedScores(const at::Tensor &query, const at::Tensor &key, AttentionForm form);

/// Replaces each row of scores by its softmax, in place, and returns the logsumexp [B, H, rows]. A row of minus
/// infinity becomes zeros, and its logsumexp zero.
at::Tensor softmaxInPlace(at::Tensor &scores);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_TENSOR_TORCH_KERNELS_ATTENTION_BLOCKS_H
